"""A launch as the operator sees it: what is said before and after, and the codes. The servers are short real processes;
how they are supervised is tested elsewhere.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Answer, Caller
from tests.helpers import eventually, free_port
from tests.launching import unstamped
from tests.report.test_document import KEYS

Here = Callable[..., Answer]


def runs(caller: Caller) -> list[Path]:
    """The run folders that the caller's launches left."""
    return sorted(path.parent for path in Path(caller.environ["HOME"]).glob(".local/state/gpulaunch/runs/*/*/plan.json")
                  if not path.parent.is_symlink())  # fmt: skip


def shell_profile(caller: Caller, script: str, more: str = "") -> str:
    """A profile whose server is a shell script."""
    command = json.dumps(["sh", "-c", script])
    return caller.profile(f"schema: 1\nname: server\nengine: command\nready: none\ncommand: {command}\n{more}")


@contextmanager
def serving(caller: Caller) -> Iterator[subprocess.Popen[str]]:
    """A launch of a web server, from READY on; ended at the latest at the end of the block."""
    port = free_port()
    profile = caller.command_profile(port=port, ready=f'{{url: "http://127.0.0.1:{port}/"}}')
    command = [sys.executable, "-m", "launcher", "command", "--profile", profile]
    with subprocess.Popen(
        command,
        env=dict(caller.environ),
        cwd=caller.folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            seen = []
            for line in process.stderr:
                seen.append(line)
                if "ready: http://" in line:
                    break
            else:
                raise AssertionError("".join(seen))
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def test_what_runs_where_and_with_which_toolkit_is_said_before_the_start(caller: Caller) -> None:
    answer = caller("command", "--profile", shell_profile(caller, "echo out; echo err >&2; exit 7"))
    assert answer.code == 7
    assert answer.out == "out\n"
    ours = [line.removeprefix("gpulaunch: ") for line in answer.err.splitlines() if line.startswith("gpulaunch: ")]
    assert ours[0] == "server: command from ./server.yaml"
    assert ours[1].startswith("target: ")
    assert ours[2].startswith("toolkit: ")
    log = runs(caller)[0] / "server.log"
    assert f"log: {log}" in ours
    assert unstamped(log.read_bytes()) in (b"out\nerr\n", b"err\nout\n")
    assert "err" in answer.err.splitlines()


def test_a_failure_ends_with_the_last_lines_the_log_and_whose_code_it_is(caller: Caller) -> None:
    answer = caller("command", "--profile", shell_profile(caller, "for i in 1 2 3; do echo line $i; done; exit 78"))
    assert answer.code == 78
    said = answer.err.splitlines()
    assert "gpulaunch:   line 3" in said
    assert said[-1].startswith("gpulaunch: ended: ")
    assert said[-1].endswith("(exit code 78, the server's own)")
    assert said[-2].startswith("gpulaunch: log: ")


def test_the_run_folder_holds_plan_and_outcome_and_nobody_else_can_read_it(caller: Caller) -> None:
    caller("command", "--profile", shell_profile(caller, "exit 3"))
    (folder,) = runs(caller)
    assert list(json.loads((folder / "plan.json").read_text())) == KEYS
    outcome = json.loads((folder / "outcome.json").read_text())
    assert (outcome["exit_code"], outcome["origin"]) == (3, "child")
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_blocked_launch_starts_nothing_and_leaves_nothing(caller: Caller) -> None:
    profile = shell_profile(caller, "touch ran", "target: {venv: /nowhere}\n")
    answer = caller("command", "--profile", profile)
    assert answer.code == 127
    assert "gpulaunch: error: " in answer.err
    assert answer.err.splitlines()[-1] == "gpulaunch: not started: mend the errors above (exit code 127)."
    assert not (caller.folder / "ran").exists()
    assert list(Path(caller.environ["HOME"]).iterdir()) == []


def test_notes_are_counted_and_the_command_that_tells_them_is_named(caller: Caller) -> None:
    profile = shell_profile(caller, "exit 3", "args: {api-key: written-down}\n")
    assert "gpulaunch explain --profile ./server.yaml\n" in caller("command", "--profile", profile).err
    assert "[profile-clear-secret]" in caller("command", "--profile", profile, "-v").err


def test_quiet_leaves_the_introduction_out(caller: Caller) -> None:
    answer = caller("command", "-q", "--profile", shell_profile(caller, "exit 3"))
    assert "toolkit:" not in answer.err
    assert "ended: " in answer.err


def test_secrets_reach_the_server_and_nothing_else(caller: Caller) -> None:
    env = {**caller.environ, "MY_TOKEN": "s3cret-value"}
    profile = shell_profile(
        caller, 'test "$T_TOKEN" = s3cret-value && exit 5; echo $T_TOKEN', 'env: {set: {T_TOKEN: "${MY_TOKEN}"}}\n'
    )
    answer = caller("command", "--profile", profile, env=env)
    assert answer.code == 5
    assert "s3cret-value" not in answer.out + answer.err
    (folder,) = runs(caller)
    assert not any(b"s3cret-value" in path.read_bytes() for path in folder.iterdir())


def test_what_cannot_be_prepared_is_said_and_recorded(caller: Caller) -> None:
    tools = caller.folder / "tools"
    tools.mkdir()
    (tools / "nvcc").write_text("")
    env = {**caller.environ, "XDG_CACHE_HOME": "/dev/null/cache"}
    answer = caller("command", "--profile", shell_profile(caller, "touch ran", f"env: {{path: [{tools}]}}\n"), env=env)
    assert answer.code == 78
    assert "[prepare-failed]" in answer.err
    assert not (caller.folder / "ran").exists()
    outcome = json.loads((runs(caller)[0] / "outcome.json").read_text())
    assert (outcome["child"], outcome["exit_code"]) == ("not started", 78)


def test_an_unwritable_state_folder_is_a_warning(caller: Caller) -> None:
    env = {**caller.environ, "XDG_STATE_HOME": "/dev/null/state"}
    answer = caller("command", "--profile", shell_profile(caller, "echo out; exit 3"), env=env)
    assert (answer.code, answer.out) == (3, "out\n")
    assert "gpulaunch: warning: " in answer.err
    assert "[state-unwritable]" in answer.err


def test_a_program_that_is_not_there_is_127(caller: Caller) -> None:
    profile = caller.profile("schema: 1\nname: server\nengine: command\nready: none\ncommand: [no-such-program]\n")
    answer = caller("command", "--profile", profile)
    assert answer.code == 127
    assert answer.err.splitlines()[-1].startswith("gpulaunch: not started: ")


def test_exec_becomes_the_server(caller: Caller) -> None:
    command = [
        sys.executable,
        "-m",
        "launcher",
        "command",
        "--exec",
        "--profile",
        shell_profile(caller, "echo $$$$; exit 4"),
    ]
    with subprocess.Popen(
        command, env=dict(caller.environ), cwd=caller.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        out, err = process.communicate(timeout=60)
    assert (int(out), process.returncode) == (process.pid, 4)
    assert "becoming the server" in err
    assert (runs(caller)[0] / "plan.json").exists()


def test_exec_in_a_unit_that_waits_for_ready_is_refused(caller: Caller) -> None:
    env = {**caller.environ, "NOTIFY_SOCKET": "/run/nowhere"}
    answer = caller("command", "--exec", "--profile", shell_profile(caller, "touch ran"), env=env)
    assert answer.code == 2
    assert "[exec-with-notify]" in answer.err
    assert not (caller.folder / "ran").exists()


def test_stop_ends_what_runs_and_the_launch_calls_it_a_success(caller: Caller) -> None:
    with serving(caller) as process:
        stopped = caller("stop", "server")
        assert stopped.code == 0
        assert "stopped: server, run " in stopped.err
        assert process.stderr is not None
        said = process.stderr.read().splitlines()
        process.wait(timeout=60)
        assert process.returncode == 0
        assert said[-1].startswith("gpulaunch: ended: stopped by SIGTERM")
        assert said[-1].endswith("(exit code 0)")
        assert said[-2] == f"gpulaunch: log: {runs(caller)[0] / 'server.log'}"
        assert not any("last lines" in line for line in said)
        assert caller("stop", "server").err == "gpulaunch: nothing is running of server\n"


def test_stop_with_nothing_running_is_a_success(caller: Caller) -> None:
    assert caller("stop") == Answer(0, "", "gpulaunch: nothing is running\n")


def test_logs_prints_the_latest_log_or_the_one_named(caller: Caller) -> None:
    for word in ("first", "second"):
        caller("command", "--profile", shell_profile(caller, f"echo {word}; exit 3"))
    first = next(path for path in runs(caller) if "first" in (path / "server.log").read_text())
    assert caller("logs", first.name.rpartition("-")[2]).out.endswith("Z out first\n")
    assert caller("logs").out.endswith(("Z out first\n", "Z out second\n"))
    assert caller("logs", "server").out == caller("logs").out
    nothing = caller("logs", "nobody")
    assert (nothing.code, nothing.out) == (78, "")
    assert "[no-such-run]" in nothing.err


def test_a_second_launch_of_one_instance_is_75_and_is_told_which_run_is_the_first(caller: Caller) -> None:
    with serving(caller) as first:
        answer = caller("command", "--profile", "./server.yaml")
    (run,) = runs(caller)
    assert answer.code == 75
    assert f"run {run.name.rpartition('-')[2]}, process {first.pid} (" in answer.err
    assert "[instance-running]" in answer.err


def test_a_port_that_is_taken_by_our_own_server_is_75_and_its_run_is_named(caller: Caller) -> None:
    with serving(caller):
        (run,) = runs(caller)
        answer = caller("check", "--profile", "./server.yaml")
        another = caller("command", "--profile", "./server.yaml", "--name", "another")
    assert (answer.code, another.code) == (75, 75)
    assert "[port-claimed]" in another.err
    assert f"run {run.name.rpartition('-')[2]}" in another.err


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_launch_works_without_some_of_its_streams(caller: Caller, closed: str) -> None:
    """A file of ours must not become standard error because the caller closed it."""
    profile = shell_profile(caller, "echo out; echo err >&2; exit 3")
    script = f"exec {sys.executable} -m launcher command --profile {profile} {closed}"
    done = subprocess.run(["sh", "-c", script], env=dict(caller.environ), cwd=caller.folder, timeout=60)
    assert done.returncode == 3
    assert sorted(unstamped((runs(caller)[0] / "server.log").read_bytes()).split()) == [b"err", b"out"]


def test_a_reader_of_ours_that_went_away_does_not_change_the_end(caller: Caller) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "launcher", "command", "--profile", shell_profile(caller, "exit 3")]
    done = subprocess.run(command, env=dict(caller.environ), cwd=caller.folder, stderr=write, timeout=60)
    os.close(write)
    assert done.returncode == 3


def test_elsewhere_than_on_linux_a_launch_says_so_and_reading_works(
    here: Here, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    profile = shell_profile(caller, "touch ran")
    answer = here("command", "--profile", profile)
    assert answer.code == 69
    assert "A launch needs Linux, and this is Darwin" in answer.err
    assert not (caller.folder / "ran").exists()
    assert here("explain", "--profile", profile).code == 0


def test_ctrl_c_is_130(caller: Caller) -> None:
    with serving(caller) as process:
        process.send_signal(signal.SIGINT)
        eventually(lambda: process.poll() is not None, within=30)
        assert process.returncode == 130
