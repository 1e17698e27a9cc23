"""The server's output: complete, masked, apart by stream, and never in the server's way."""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launcher.capture.capture import Capture
from launcher.capture.terminal import Terminal
from tests.helpers import eventually
from tests.hostiles import hostile
from tests.launching import Launch

SPAM = 30_000_000


def test_a_flood_arrives_whole(launch: Launch) -> None:
    digest = launch.folder / "digest"
    launch.start("--spam", SPAM, "--spam-digest", digest, "--exit", 0, ready=False)
    launch.wait(60)
    sent = json.loads(digest.read_text())["stdout"]
    assert hashlib.sha256(launch.log).hexdigest() == sent["sha256"]
    assert hashlib.sha256(launch.output).hexdigest() == sent["sha256"]


def test_both_streams_arrive_apart(launch: Launch) -> None:
    launch.start("--say", "to stdout", "--say-error", "to stderr", "--exit", 3, ready=False)
    assert launch.wait() == 3
    assert launch.output == b"to stdout\n"
    assert "\nto stderr\n" in launch.errors
    assert b"to stdout" in launch.log and b"to stderr" in launch.log


def test_a_line_is_in_the_log_at_once_though_the_other_stream_floods_with_what_is_only_counted(launch: Launch) -> None:
    """A server that repeats one line without end: what it said first is why."""
    launch.start(command=["sh", "-c", "echo first; echo why >&2; exec yes"], ready=False)
    eventually((launch.run_folder / "server.log").exists)
    eventually(lambda: b" err why\n" in (launch.run_folder / "server.log").read_bytes(), within=10)
    assert b" out first\n" in (launch.run_folder / "server.log").read_bytes()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert b"\nlast line repeated " in launch.log


def test_lines_of_a_killed_server_arrive_through_the_pipe(launch: Launch) -> None:
    """R134 docker-library/python#604: without PYTHONUNBUFFERED the control delivers nothing."""
    script = "import os, signal; print('the last words'); os.kill(os.getpid(), signal.SIGKILL)"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    control = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environ)
    assert control.stdout == b""
    launch.start(command=[sys.executable, "-c", script], ready=False)
    assert launch.wait() == 137
    assert launch.log == b"the last words\n"


def test_a_server_that_closes_its_stdout_lives_on(launch: Launch) -> None:
    launch.start("--close-stdout").until_ready()
    assert launch.process is not None and launch.process.poll() is None
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_the_end_of_a_plain_servers_output_is_not_its_end(tmp_path: Path) -> None:
    """The control: whoever reads until the end takes it for an exit."""
    command = hostile("--pid-file", tmp_path / "pids", "--close-stdout")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.read() == b""
        assert server.poll() is None
        server.kill()


def test_a_secret_reaches_neither_log_nor_terminal(launch: Launch) -> None:
    secret = "hf_thisIsNobodysToken"
    launch.start("--print-env", "HF_TOKEN", "--exit", 1, ready=False, environ={"HF_TOKEN": secret})
    launch.wait()
    assert launch.output == b"HF_TOKEN=***\n"
    everything = launch.log + launch.output + launch.errors.encode()
    everything += b"".join(path.read_bytes() for path in launch.run_folder.iterdir())
    assert secret.encode() not in everything


def test_a_terminal_that_nobody_reads_does_not_stop_the_server(launch: Launch) -> None:
    """The control would hang for ever: a pipe without a reader takes 64 KiB."""
    launch.profile("--spam", 5_000_000, "--spam-digest", launch.folder / "digest", "--exit", 0, ready=False)
    read, write = os.pipe()
    with (launch.folder / "stderr").open("wb") as err:
        launch.process = launch.corral.spawn(
            launch.command(), stdout=write, stderr=err, stdin=subprocess.DEVNULL, env=launch.environ
        )
    os.close(write)
    try:
        eventually((launch.folder / "digest").exists, within=40, what="the server has written everything")
        launch.wait()
    finally:
        os.close(read)
    assert len(launch.log) == 5_000_000


def test_a_terminal_that_is_gone_does_not_stop_the_server(launch: Launch) -> None:
    launch.profile("--spam", 1_000_000, "--exit", 0, ready=False)
    read, write = os.pipe()
    os.close(read)
    with (launch.folder / "stderr").open("wb") as err:
        launch.process = launch.corral.spawn(
            launch.command(), stdout=write, stderr=err, stdin=subprocess.DEVNULL, env=launch.environ
        )
    os.close(write)
    launch.wait()
    assert len(launch.log) == 1_000_000


def test_a_log_that_cannot_grow_does_not_stop_the_server(launch: Launch) -> None:
    """A limit on file sizes stands for a full disk: the output is drained and shown all the same."""
    digest = launch.folder / "digest"
    launch.profile("--spam", 3_000_000, "--spam-digest", digest, "--exit", 6, ready=False)
    read, write = os.pipe()
    limited = ["sh", "-c", 'ulimit -f 2048; exec "$@"', "sh", *launch.command()]  # 1 or 2 MiB
    with (launch.folder / "stderr").open("wb") as err:
        launch.process = launch.corral.spawn(limited, stdout=write, stderr=err, env=launch.environ)
    os.close(write)
    with os.fdopen(read, "rb") as shown:
        assert hashlib.sha256(shown.read()).hexdigest() == json.loads(digest.read_text())["stdout"]["sha256"]
    assert launch.wait() == 6
    assert launch.errors.count("the log cannot be written") == 1
    assert 0 < len(launch.log) < 3_000_000
    assert "bytes are missing in the log" in launch.errors


def test_however_busy_the_streams_are_the_log_is_told_to_go_on_again_and_again() -> None:
    """Otherwise a line waited in memory for a stream to fall silent, and a SIGKILL would take it along."""

    class Log:
        told = 0

        def go_on(self) -> None:
            self.told += 1

    log = Log()
    capture = Capture({0: None, 1: None}, log=log, say=print, secrets=())  # type: ignore[arg-type, dict-item]
    for now in (100.0, 100.1, 100.19, 100.3, 100.35, 100.6):
        capture._show_what_waits(now)
    assert log.told == 3


def test_the_end_is_waited_for_as_long_as_something_comes_but_not_for_ever() -> None:
    """What a server left in its pipes is read, however slowly; a stranger who holds one is not waited for."""
    (out_read, out_write), (err_read, err_write) = os.pipe(), os.pipe()
    null = os.open(os.devnull, os.O_WRONLY)
    terminals = {end: Terminal(null, "nowhere", print) for end in (out_read, err_read)}

    class Moving(Capture):
        moved_at = property(lambda _: time.monotonic())  # type: ignore[assignment]

    capture = Moving(terminals, None, (), print)
    capture.start()
    begin = time.monotonic()
    assert not capture.finish(0.01, begin + 0.5)
    assert time.monotonic() >= begin + 0.5
    os.close(out_write)
    os.close(err_write)
    assert capture.finish(10)
    os.close(null)


def test_a_prompt_appears_though_the_other_stream_speaks_but_for_what_may_become_a_secret() -> None:
    (out_read, out_write), (err_read, err_write), (shown, terminal) = os.pipe(), os.pipe(), os.pipe()
    null = os.open(os.devnull, os.O_WRONLY)
    said: list[str] = []
    terminals = {
        out_read: Terminal(terminal, "standard output", said.append),
        err_read: Terminal(null, "standard error", said.append),
    }
    capture = Capture(terminals, None, ["sk-0123456789"], said.append)
    capture.start()
    os.write(out_write, b"go on? sk-0")
    eventually(lambda: os.write(err_write, b".") and select.select([shown], [], [], 0)[0])
    assert os.read(shown, 100) == b"go on? "
    os.close(out_write)
    os.close(err_write)
    assert capture.finish(10)
    assert os.read(shown, 100) == b"sk-0"
    for end in (shown, terminal, null):
        os.close(end)


@pytest.mark.parametrize(("terminal", "seen"), [("pipe", b"False False"), ("pty", b"True True")])
def test_the_server_has_a_terminal_only_where_the_profile_says_so(launch: Launch, terminal: str, seen: bytes) -> None:
    script = "import os; print(os.isatty(1), os.isatty(2))"
    launch.start(command=[sys.executable, "-c", script], ready=False, log={"terminal": terminal})
    launch.wait()
    assert launch.output == seen + b"\n"
    assert launch.log == seen + b"\n"


def test_a_profile_may_want_its_log_as_json(launch: Launch) -> None:
    launch.start("--say", "(Worker_TP1 pid=7) hello", "--exit", 3, ready=False, log={"format": "json"})
    assert launch.wait() == 3
    (line,) = map(json.loads, (launch.run_folder / "server.log").read_text().splitlines())
    assert (line["stream"], line["rank"], line["line"]) == ("out", "TP1", "(Worker_TP1 pid=7) hello")


def test_folders_and_files_of_a_run_are_private_whatever_the_umask(launch: Launch) -> None:
    before = os.umask(0)
    try:
        launch.start("--exit", 0, ready=False)
        launch.wait()
    finally:
        os.umask(before)
    for path in [launch.folder / "state/gpulaunch", *(launch.folder / "state/gpulaunch").rglob("*")]:
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path


def test_an_unwritable_state_is_a_warning_and_the_server_runs(launch: Launch) -> None:
    (launch.folder / "state").write_text("not a folder")
    launch.start("--say", "hello", "--exit", 4, ready=False)
    assert launch.wait() == 4
    assert launch.output == b"hello\n"
    assert "log goes to the terminal only" in launch.errors


def test_the_runs_folder_holds_plan_events_outcome_and_log_and_latest_leads_to_it(launch: Launch) -> None:
    launch.start("--exit", 5, ready=False)
    launch.wait()
    names = {path.name for path in launch.run_folder.iterdir()}
    assert {"plan.json", "events.jsonl", "outcome.json", "server.log"} <= names
    assert launch.run_folder.is_symlink()
    assert launch.outcome["exit_code"] == 5


def test_the_server_gets_the_marks_of_its_run_and_nothing_on_standard_input(launch: Launch) -> None:
    script = (
        "import os, sys; print(sys.stdin.read() == '', os.environ['GPULAUNCH_RUN_ID'], os.environ['GPULAUNCH_RUN_DIR'])"
    )
    launch.start(command=[sys.executable, "-c", script], ready=False)
    launch.wait()
    empty, run_id, folder = launch.output.decode().split()
    assert empty == "True"
    assert Path(folder) == launch.run_folder.resolve()
    assert folder.endswith(run_id)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTTIN, signal.SIGTTOU])
def test_signals_that_were_ignored_or_blocked_are_not_so_in_the_server(launch: Launch, number: signal.Signals) -> None:
    launch.profile(command=["/bin/grep", "-E", "SigBlk|SigIgn", "/proc/self/status"], ready=False)
    ignoring = f"trap '' {number.name.removeprefix('SIG')}; exec \"$@\""
    with (launch.folder / "stdout").open("wb") as out, (launch.folder / "stderr").open("wb") as err:
        launch.process = launch.corral.spawn(
            ["/bin/sh", "-c", ignoring, "sh", *launch.command()], stdout=out, stderr=err, env=launch.environ
        )
    launch.wait()
    masks = dict(line.split() for line in launch.output.decode().splitlines())
    assert masks == {"SigBlk:": "0000000000000000", "SigIgn:": "0000000000000000"}
