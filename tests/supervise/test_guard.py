"""The guard: what it is told, and that it ends the run when we cannot."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from launcher.supervise import guard, run_mark
from launcher.supervise.guard import FAREWELL, listen, parse, telling
from launcher.supervise.guarding import Guard
from launcher.supervise.processes import Process, identify
from tests.helpers import eventually
from tests.hostiles import hostile
from tests.survivors import Corral

DRIVE = Path(__file__).with_name("drive.py")
MEMBERS = st.lists(st.builds(Process, st.integers(1, 1 << 22), st.integers(0, 1 << 40)), max_size=8)


@given(MEMBERS)
def test_what_is_told_is_what_is_heard(members: list[Process]) -> None:
    assert parse(telling(members)) == set(members)


@given(MEMBERS, MEMBERS, st.integers(0, 40))
def test_the_last_whole_telling_counts(first: list[Process], second: list[Process], cut: int) -> None:
    whole = telling(second)
    heard = listen(io.BytesIO(telling(first) + whole[: min(cut, len(whole) - 1)]))
    assert heard == set(first)


def test_a_farewell_means_that_nothing_is_to_be_done() -> None:
    assert listen(io.BytesIO(telling([Process(1, 1)]) + FAREWELL)) is None


def test_an_end_before_the_first_telling_is_no_farewell() -> None:
    assert listen(io.BytesIO(b"")) == set()


def test_it_imports_little_for_it_lives_as_long_as_the_server() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from launcher.supervise import guard; print(*sys.modules)"
    root = Path(guard.__file__).parents[2]
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, str(root)], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "launcher.supervise.guard" in loaded
    assert not loaded & {"json", "dataclasses", "subprocess", "pathlib", "threading", "psutil"}


def test_whoever_is_forked_bears_the_mark_whatever_he_does(corral: Corral) -> None:
    run_id = "0123abcd"
    before = run_mark.put(run_id)
    try:
        # env -i and setsid wipe whatever else could tell.
        bearer = corral.spawn(["env", "-i", "setsid", "--fork", "sleep", "60"])
    finally:
        run_mark.take_off(before)
    bearer.wait(10)
    (found,) = eventually(lambda: [p for p in run_mark.bearers(run_id) if p.pid != os.getpid()])
    assert [process.pid for process in corral.survivors()] == [found.pid]
    assert run_mark.bearers("0123abce") == []


def test_our_own_process_bears_it_only_meanwhile() -> None:
    before = run_mark.soft_locks(os.getpid())
    was = run_mark.put("feedbeef")
    assert run_mark.soft_locks(os.getpid()) == str(run_mark.value_of("feedbeef")).encode()
    run_mark.take_off(was)
    assert run_mark.soft_locks(os.getpid()) == before


def test_a_guard_that_is_stopped_keeps_nobody_waiting() -> None:
    made = Guard("00000001", None)
    assert made.pid is not None
    pid = made.pid
    os.kill(pid, signal.SIGSTOP)
    for count in range(200):
        made.tell([Process(pid, count)] * 100)  # 200 kB into a pipe that takes 64
    made.farewell()
    assert identify(pid) is None


def test_a_mistake_of_ours_does_not_leave_the_server_behind(corral: Corral, tmp_path: Path) -> None:
    flags = hostile("--pid-file", tmp_path / "pids", "--worker")
    command = [sys.executable, DRIVE, tmp_path, "--break-when", "SIGUSR1", "--", *flags]
    with (tmp_path / "said").open("wb") as said:
        driver = corral.spawn(command, stderr=said)
    eventually((tmp_path / "pids").exists)
    driver.send_signal(signal.SIGUSR1)
    assert driver.wait(20) == 1
    assert "RuntimeError: a mistake" in (tmp_path / "said").read_text()
    assert corral.wait_empty(15) == []
