"""`gpulaunch stop` is bounded, and honest about a supervisor that does not do what it was asked for."""

from __future__ import annotations

import signal
import subprocess
import sys

from launcher.supervise import processes
from tests.helpers import eventually
from tests.launching import Launch


def stop(launch: Launch, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "launcher", "stop", "test", *options]
    return subprocess.run(
        command, env=launch.environ, cwd=launch.folder, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_supervisor_that_was_stopped_by_a_signal_is_not_waited_for_for_ever(launch: Launch) -> None:
    launch.start().until_ready().signal(signal.SIGSTOP)
    assert launch.process is not None
    pid = launch.process.pid
    eventually(lambda: (found := processes.status(pid)) is not None and found.state == "T")
    done = stop(launch, "--timeout", "0.5")
    assert done.returncode == 124
    assert f"kill -CONT {pid}" in done.stderr
    launch.signal(signal.SIGCONT)
    assert launch.wait() == 0  # the stop was asked for, and waited for it


def test_a_run_whose_folder_cannot_be_written_is_found_by_its_lock(launch: Launch) -> None:
    """A state folder on a full or read-only disk: the instance's lock names the process."""
    launch.start(environ={"XDG_STATE_HOME": "/proc/nowhere", "XDG_RUNTIME_DIR": str(launch.folder)}).until_ready()
    command = [sys.executable, "-m", "launcher", "stop", launch.instance]
    environ = {**launch.environ, "XDG_STATE_HOME": "/proc/nowhere", "XDG_RUNTIME_DIR": str(launch.folder)}
    done = subprocess.run(command, env=environ, cwd=launch.folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "stopped: test, run" in done.stderr) == (0, True), done.stderr
    assert launch.wait() == 0


def test_a_run_knows_the_grace_that_its_stop_may_take(launch: Launch) -> None:
    launch.grace = "7s"
    launch.start().until_ready()
    assert '"grace": 7.0' in (launch.run_folder / "processes.json").read_text()
    assert stop(launch).returncode == 0
    assert launch.wait() == 0


def test_a_stop_in_the_middle_of_a_load_ends_it(launch: Launch) -> None:
    launch.start("--ready-after-file", launch.folder / "never", "--worker").until("log:")
    eventually((launch.run_folder / "processes.json").exists)
    assert stop(launch).returncode == 0
    assert launch.wait() == 0
    assert launch.corral.survivors() == []
