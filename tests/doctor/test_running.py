"""Short programs are run at once, in order of their answers' asking, each with its limit, and none is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launcher.verify.running import Ended, Job, run_all
from tests.helpers import eventually

ENV = {"PATH": "/usr/bin:/bin"}


def job(script: str, cwd: Path) -> Job:
    return Job(words=("sh", "-c", script), env=ENV, cwd=str(cwd))


def gone(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}/exe")


def test_ends_come_in_the_order_of_the_jobs(tmp_path: Path) -> None:
    """The first waits for a line of the second."""
    os.mkfifo(tmp_path / "line")
    first, second = job("read said < line; echo one $said", tmp_path), job("echo two > line; echo two", tmp_path)
    assert run_all([first, second], at_once=2, patience=20) == (
        Ended(code=0, out="one two\n"),
        Ended(code=0, out="two\n"),
    )


def test_no_more_than_so_many_run_at_once(tmp_path: Path) -> None:
    """Two at once would meet in the folder: each stays in it for the time of some programs."""
    alone = job("mkdir alone && for n in 1 2 3 4 5 6 7 8 9; do /bin/true; done && rmdir alone && echo yes", tmp_path)
    assert {ended.out for ended in run_all([alone] * 4, at_once=1, patience=20)} == {"yes\n"}


def test_code_and_streams_are_told(tmp_path: Path) -> None:
    (ended,) = run_all([job("echo out; echo err >&2; exit 7", tmp_path)], at_once=1, patience=20)
    assert ended == Ended(code=7, out="out\n", err="err\n")


def test_what_takes_too_long_is_ended_and_the_others_are_not(tmp_path: Path) -> None:
    slow, quick = job("echo $$ > slow; exec tail -f /dev/null", tmp_path), job("echo quick", tmp_path)
    ended = run_all([slow, quick], at_once=2, patience=1)
    assert ended[0].code is None
    assert ended[0].trouble == "no answer within 1 s"
    assert ended[1].out == "quick\n"
    assert gone(int((tmp_path / "slow").read_text()))


@pytest.mark.parametrize("end", ["exit 0", "exec tail -f /dev/null"], ids=["it ended", "it was ended"])
def test_what_it_started_ends_with_it(tmp_path: Path, end: str) -> None:
    """An nvcc that hangs below a library that was asked."""
    run_all([job(f"tail -f /dev/null & echo $! > child; {end}", tmp_path)], at_once=1, patience=1)
    child = int((tmp_path / "child").read_text())
    eventually(lambda: gone(child), what="the child is gone")


def test_what_cannot_be_run_is_told(tmp_path: Path) -> None:
    (ended,) = run_all([Job(words=("/nowhere/python",), env=ENV, cwd=str(tmp_path))], at_once=1, patience=20)
    assert ended.code is None
    assert ended.trouble == "/nowhere/python cannot be run: No such file or directory"


def test_of_a_flood_the_end_is_kept(tmp_path: Path) -> None:
    (ended,) = run_all([job("head -c 1000000 /dev/zero | tr '\\0' x; echo end", tmp_path)], at_once=1, patience=20)
    assert len(ended.out) == 65536
    assert ended.out.endswith("xend\n")


# In a process of its own, which has one thread as gpulaunch has then: another one of pytest's would take the signal.
STOPPED = """
import signal, sys
from launcher.verify.running import Job, run_all

class Stopped(BaseException):
    pass

def stop(number, frame):
    raise Stopped

signal.signal(signal.SIGTERM, stop)
try:
    job = Job(words=("sh", "-c", sys.argv[1]), env={"PATH": "/usr/bin:/bin"}, cwd=sys.argv[2])
    run_all([job], at_once=1, patience=20)
except Stopped:
    print("stopped")
"""


def test_a_stop_at_any_moment_leaves_nothing(tmp_path: Path) -> None:
    """The job itself sends the signal, as early as it can, and has a child that would stay."""
    script = "tail -f /dev/null & echo $! > child; kill -TERM $PPID; wait"
    root = Path(__file__).resolve().parent.parent.parent
    command = [sys.executable, "-c", STOPPED, script, str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    assert done.stdout == "stopped\n", done.stderr
    child = int((tmp_path / "child").read_text())
    eventually(lambda: gone(child), what="the child is gone")
