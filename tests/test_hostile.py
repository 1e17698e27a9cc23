"""The hostile server has the habits that its flags promise; otherwise the tests that use it would prove nothing."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import eventually, free_port
from tests.hostiles import health, hostile, processes, signals
from tests.survivors import Corral


@pytest.fixture
def corral() -> Iterator[Corral]:
    with Corral() as opened:
        yield opened


def said(*flags: str | Path | int) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(hostile(*flags), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def test_it_answers_once_its_file_exists(corral: Corral, tmp_path: Path) -> None:
    port, gate = free_port(), tmp_path / "gate"
    corral.spawn(hostile("--port", port, "--ready-after-file", gate, "--pid-file", tmp_path / "pids"))
    processes(tmp_path / "pids")
    assert health(port) == 503
    gate.touch()
    eventually(lambda: health(port) == 200)


def test_its_pid_file_names_it_and_its_workers(corral: Corral, tmp_path: Path) -> None:
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids", "--worker", "--worker", "--double-fork"))
    roles = processes(tmp_path / "pids")
    assert [line["role"] for line in roles] == ["server", "worker", "worker"]
    assert roles[0]["pid"] == server.pid
    assert {line["pid"] for line in roles} == {process.pid for process in corral.survivors()}


@pytest.mark.parametrize("flags", [(), ("--ready-after-file", "/nonexistent")], ids=["ready", "loading"])
def test_a_sigterm_ends_it_with_the_code_it_was_given(corral: Corral, tmp_path: Path, flags: tuple[str, ...]) -> None:
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids", "--term-exit", 5, *flags))
    processes(tmp_path / "pids")
    server.terminate()
    assert server.wait(10) == 5


@pytest.mark.parametrize(("terms", "code", "drained"), [(1, 0, True), (2, 9, False)])
def test_a_drain_takes_its_time_and_a_second_sigterm_cuts_it_short(
    corral: Corral, tmp_path: Path, terms: int, code: int, drained: bool
) -> None:
    port, log = free_port(), tmp_path / "log"
    files = ("--term-log", log, "--drained-file", tmp_path / "drained")
    server = corral.spawn(hostile("--port", port, "--drain", 0.5, *files))
    eventually(lambda: health(port) == 200)
    for number in range(1, terms + 1):
        server.terminate()
        eventually(lambda number=number: len(signals(log)) == number)  # type: ignore[misc]
    assert server.wait(10) == code
    assert (tmp_path / "drained").exists() is drained


def test_it_loses_one_sigterm_while_it_loads(corral: Corral, tmp_path: Path) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    server = corral.spawn(
        hostile(
            "--ready-after-file",
            gate,
            "--ignore-first-term-while-loading",
            "--term-log",
            log,
            "--pid-file",
            gate.with_name("pids"),
        )
    )
    processes(tmp_path / "pids")
    server.terminate()
    eventually(lambda: signals(log) == ["SIGTERM"])
    assert server.poll() is None
    server.terminate()
    assert server.wait(10) == 0


def test_it_can_ignore_every_sigterm_and_still_dies_of_its_file(corral: Corral, tmp_path: Path) -> None:
    server = corral.spawn(
        hostile(
            "--ignore-term",
            "--term-log",
            tmp_path / "log",
            "--pid-file",
            tmp_path / "pids",
            "--die-on-file",
            tmp_path / "death",
        )
    )
    processes(tmp_path / "pids")
    server.terminate()
    eventually(lambda: signals(tmp_path / "log") == ["SIGTERM"])
    assert server.poll() is None
    (tmp_path / "death").touch()
    assert server.wait(10) == -signal.SIGKILL


def test_other_signals_end_it_as_they_end_any_program(corral: Corral, tmp_path: Path) -> None:
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids", "--term-log", tmp_path / "log"))
    processes(tmp_path / "pids")
    server.send_signal(signal.SIGHUP)
    assert server.wait(10) == -signal.SIGHUP
    assert signals(tmp_path / "log") == ["SIGHUP"]


def test_a_hang_up_that_was_ignored_when_it_started_stays_ignored(corral: Corral, tmp_path: Path) -> None:
    command = hostile("--pid-file", tmp_path / "pids", "--term-log", tmp_path / "log")
    server = corral.spawn(["env", "--ignore-signal=HUP", *command])
    processes(tmp_path / "pids")
    server.send_signal(signal.SIGHUP)
    server.terminate()
    assert server.wait(10) == 0
    assert signals(tmp_path / "log") == ["SIGTERM"]


def test_it_exits_after_the_first_good_answer(corral: Corral) -> None:
    server = corral.spawn(hostile("--port", port := free_port(), "--exit-after-ready", 4))
    eventually(lambda: health(port) == 200)
    assert server.wait(10) == 4


def test_it_prints_what_it_is_asked_to_and_nothing_else() -> None:
    done = said("--say", "out", "--say-error", "err", "--print-env", "PATH", "--print-env", "NO_SUCH", "--exit", 0)
    assert done.stdout.decode().splitlines()[0] == "out"
    assert done.stdout.decode().splitlines()[1].startswith("PATH=/")
    assert done.stdout.decode().splitlines()[2:] == ["NO_SUCH is unset"]
    assert done.stderr == b"err\n"
    silent = said("--exit", 6)
    assert (silent.returncode, silent.stdout, silent.stderr) == (6, b"", b"")


def test_it_lives_on_without_its_standard_output(corral: Corral, tmp_path: Path) -> None:
    server = corral.spawn(hostile("--close-stdout", "--pid-file", tmp_path / "pids"), stdout=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stdout.read() == b""
    processes(tmp_path / "pids")
    assert server.poll() is None


@pytest.mark.parametrize("to", ["stdout", "stderr", "both"])
@pytest.mark.parametrize("size", [1, 8191, 300_000])
def test_its_text_is_as_long_as_asked_always_the_same_and_has_the_digest_it_reports(
    tmp_path: Path, to: str, size: int
) -> None:
    runs = [said("--spam", size, "--spam-to", to, "--spam-digest", tmp_path / "digest", "--exit", 0) for _ in range(2)]
    assert len(runs[0].stdout) + len(runs[0].stderr) == size
    assert (runs[0].stdout, runs[0].stderr) == (runs[1].stdout, runs[1].stderr)
    reported = json.loads((tmp_path / "digest").read_text())
    for stream in ("stdout", "stderr") if to == "both" else (to,):
        data = getattr(runs[0], stream)
        assert reported[stream] == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        assert data[-1:] in (b"", b"\n")
