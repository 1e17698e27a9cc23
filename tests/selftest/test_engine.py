"""The hostile server has the habits that its flags promise; otherwise the tests that use it would prove nothing."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher.selftest.engine import BROKEN_DRAIN, METRICS
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


# ----------------------------------------------------------------------------------------------------------------------
# Workers


def start(corral: Corral, tmp_path: Path, *flags: str | Path | int) -> tuple[subprocess.Popen[bytes], int]:
    """The server and the pid of its one worker, once both have started."""
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids", "--worker", *flags))
    return server, int(str(processes(tmp_path / "pids")[1]["pid"]))


@pytest.mark.parametrize(("where", "session", "group"), [("session", 1, 1), ("group", 0, 1), ("parents", 0, 0)])
def test_a_worker_is_in_the_session_and_group_it_was_told(
    corral: Corral, tmp_path: Path, where: str, session: int, group: int
) -> None:
    server, worker = start(corral, tmp_path, "--worker-in", where)
    assert (os.getsid(worker) != os.getsid(server.pid), os.getpgid(worker) != os.getpgid(server.pid)) == (
        bool(session),
        bool(group),
    )


def test_an_orderly_server_ends_its_workers(corral: Corral, tmp_path: Path) -> None:
    server, _ = start(corral, tmp_path, "--ends-workers")
    server.terminate()
    assert server.wait(10) == 0
    assert corral.survivors() == []


def test_a_worker_may_leave_a_deaf_one_when_it_is_told_to_end(corral: Corral, tmp_path: Path) -> None:
    server, worker = start(corral, tmp_path, "--worker-forks-on-term")
    os.kill(worker, signal.SIGTERM)
    (left,) = eventually(lambda: {p.pid for p in corral.survivors()} - {server.pid, worker})
    os.kill(left, signal.SIGTERM)
    server.kill()
    assert [process.pid for process in corral.wait_empty(0.1)] == [left]


@pytest.mark.parametrize(
    ("flags", "code"),
    [(("--worker-death-exits", 0), 0), (("--worker-death-kills",), -signal.SIGKILL)],
    ids=["vLLM exits 0", "SGLang kills itself"],
)
def test_a_dead_worker_ends_the_server(corral: Corral, tmp_path: Path, flags: tuple[str | int], code: int) -> None:
    death = tmp_path / "death"
    server, _ = start(corral, tmp_path, "--worker-dies-on-file", death, *flags)
    death.touch()
    assert server.wait(10) == code


@pytest.mark.parametrize(("health_says", "status"), [("lies", 200), ("honest", 503)])
def test_health_with_dead_workers_is_a_lie_or_not(
    corral: Corral, tmp_path: Path, health_says: str, status: int
) -> None:
    port, death = free_port(), tmp_path / "death"
    server, worker = start(corral, tmp_path, "--port", port, "--health", health_says, "--worker-dies-on-file", death)
    eventually(lambda: health(port) == 200)
    death.touch()
    eventually(lambda: worker not in {process.pid for process in corral.survivors()})
    assert health(port) == status
    assert server.poll() is None


def test_a_worker_may_send_sigquit_to_its_parent(corral: Corral, tmp_path: Path) -> None:
    server, _ = start(corral, tmp_path, "--worker-quits-parent-on-file", tmp_path / "now")
    (tmp_path / "now").touch()
    assert server.wait(10) == -signal.SIGQUIT


def test_a_drain_breaks_where_its_workers_are_taken_away(corral: Corral, tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    server, worker = start(corral, tmp_path, "--port", port, "--drain", 30, "--drain-needs-workers", "--term-log", log)
    eventually(lambda: health(port) == 200)
    server.terminate()
    eventually(lambda: signals(log) == ["SIGTERM"])
    os.kill(worker, signal.SIGKILL)
    assert server.wait(10) == BROKEN_DRAIN


def test_a_renamed_server_shows_nothing_of_its_start(corral: Corral, tmp_path: Path) -> None:
    _, worker = start(corral, tmp_path, "--worker-setproctitle")
    assert b"GPULAUNCH" not in Path(f"/proc/{worker}/environ").read_bytes().strip(b"\0")
    assert Path(f"/proc/{worker}/environ").read_bytes().strip(b"\0") == b""
    assert Path(f"/proc/{worker}/cmdline").read_bytes().startswith(b"renamed worker")


# ----------------------------------------------------------------------------------------------------------------------
# Ends and answers


def test_it_says_why_before_it_kills_itself() -> None:
    done = said("--last-words", "RuntimeError: NCCL error", "--die")
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, b"RuntimeError: NCCL error\n")


def test_it_ends_with_its_code_when_its_file_exists(corral: Corral, tmp_path: Path) -> None:
    server = corral.spawn(hostile("--exit", 3, "--exit-on-file", tmp_path / "now", "--pid-file", tmp_path / "pids"))
    processes(tmp_path / "pids")
    assert server.poll() is None
    (tmp_path / "now").touch()
    assert server.wait(10) == 3


def test_it_can_hang_in_its_shutdown(corral: Corral, tmp_path: Path) -> None:
    port, now, log = free_port(), tmp_path / "now", tmp_path / "log"
    flags = ("--hang-on-file", now, "--last-words", "EngineDeadError", "--term-log", log)
    with (tmp_path / "err").open("wb") as err:
        server = corral.spawn(hostile("--port", port, *flags), stderr=err)
    eventually(lambda: health(port) == 200)
    now.touch()
    eventually(lambda: (tmp_path / "err").read_text() == "EngineDeadError\n")
    server.terminate()
    eventually(lambda: signals(log) == ["SIGTERM"])
    assert server.poll() is None
    assert ask(port, "GET", "/health", patience=0.2) is None


@pytest.mark.parametrize("taken", ["exit", "hang"])
def test_a_port_that_is_taken_ends_it_or_not(corral: Corral, tmp_path: Path, taken: str) -> None:
    with socket.socket() as holder, (tmp_path / "err").open("wb") as err:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        server = corral.spawn(hostile("--port", port, "--port-taken", taken), stderr=err)
        eventually(lambda: b"address already in use" in (tmp_path / "err").read_bytes())
        if taken == "exit":
            assert server.wait(10) == 1
        assert (server.poll() is None) is (taken == "hang")


def test_it_refuses_connections_while_it_loads(corral: Corral, tmp_path: Path) -> None:
    port, gate = free_port(), tmp_path / "gate"
    flags = ("--listen-when-ready", "--ready-after-file", gate, "--pid-file", tmp_path / "pids")
    corral.spawn(hostile("--port", port, *flags))
    processes(tmp_path / "pids")
    assert health(port) is None
    gate.touch()
    eventually(lambda: health(port) == 200)


@pytest.mark.parametrize("engine", METRICS)
def test_its_counters_move_or_stand_still(corral: Corral, tmp_path: Path, engine: str) -> None:
    port, stall = free_port(), tmp_path / "stall"
    running, _, tokens = METRICS[engine]
    corral.spawn(hostile("--port", port, "--metrics", engine, "--requests", 2, "--stall-file", stall))

    def counters() -> dict[str, float]:
        rows = (ask(port, "GET", "/metrics") or (0, b""))[1].decode().splitlines()
        return {row.partition("{")[0]: float(row.split()[-1]) for row in rows if not row.startswith("#")}

    eventually(lambda: health(port) == 200)
    before = counters()
    assert before[running] == 2
    eventually(lambda: counters()[tokens] > before[tokens])
    stall.touch()
    eventually(lambda: counters()[tokens] == counters()[tokens])
    assert counters() == counters()


@pytest.mark.parametrize(("generate", "status"), [("answers", 200), ("errs", 500), ("hangs", None)])
def test_a_generation_is_answered_errs_or_hangs(corral: Corral, generate: str, status: int | None) -> None:
    port = free_port()
    corral.spawn(hostile("--port", port, "--generate", generate))
    eventually(lambda: health(port) == 200)
    answer = ask(port, "POST", "/v1/completions", patience=0.5 if status is None else 10)
    assert (answer and answer[0]) == status


def test_its_streams_can_be_as_bad_as_real_ones() -> None:
    flags = ("--ansi", "--repeat", 3, "same", "--long-line", 70_001, "--write", r"\0\xffbar\r", "--write", r"sk-a\n")
    done = said(*flags, "--progress", 4, "--print-arguments", "--api-key", "sk-secret", "--exit", 0)
    out, err = done.stdout, done.stderr
    assert out.startswith(b"same\nsame\nsame\nabcdefghi ")
    assert len(out.splitlines()[3]) == 70_001
    assert b"\x1b[1;31mred\x1b[0m" in out
    assert out.endswith(b"\0\xffbar\rsk-a\n")
    assert err.count(b"\r") == 4
    assert err.endswith(b"100% Completed | 4/4\n")
    assert b"'api_key': 'sk-secret'" in err


def test_it_leaves_a_segment_of_shared_memory_behind() -> None:
    server = subprocess.Popen(hostile("--leave-shm", "hostile-{pid}", "--exit", 0), stdin=subprocess.DEVNULL)
    assert server.wait(20) == 0
    Path(f"/dev/shm/hostile-{server.pid}").unlink()


def ask(port: int, method: str, path: str, patience: float = 10.0) -> tuple[int, bytes] | None:
    """Status and body, None where nothing came in so many seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
    try:
        connection.request(method, path, body=b"{}" if method == "POST" else None)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except OSError:
        return None
    finally:
        connection.close()
