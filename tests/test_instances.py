"""One at a time: locks on names, GPUs and ports, and who is named to the later one. Every holder is a real process."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from launcher import instances
from launcher.instances import Claimant, claim, claimant, conflicts, running
from tests.helpers import eventually

ROOT = Path(__file__).parents[1]
GPU = instances.gpu(0, "GPU-1")
OTHER_GPU = instances.gpu(1, "GPU-2")
PORT = instances.port(8000)
NAME = instances.instance("qwen")


@contextmanager
def holder(folder: Path, code: str = "") -> Iterator[subprocess.Popen[str]]:
    """Another process that has the instance qwen, GPU 0 and port 8000, until its standard input ends."""
    program = textwrap.dedent(f"""
        import os, subprocess, sys
        from launcher import instances
        who = instances.claimant("qwen", "qwen-profile", "ab12cd34")
        wanted = [instances.instance("qwen"), instances.gpu(0, "GPU-1"), instances.port(8000)]
        made = instances.claim({str(folder)!r}, who, wanted)
        assert not made.findings, made.findings
        {code}
        print("claimed", flush=True)
        sys.stdin.read()
        made.release()
    """)
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "claimed\n"
        try:
            yield process
        finally:
            process.kill()


def mine(name: str = "other") -> Claimant:
    return claimant(name, name, "00000001")


@pytest.mark.parametrize(
    ("resource", "code"), [(NAME, "instance-running"), (GPU, "gpu-claimed"), (PORT, "port-claimed")]
)
def test_the_later_one_is_refused_with_75_and_told_who_was_first(
    tmp_path: Path, resource: instances.Resource, code: str
) -> None:
    with holder(tmp_path) as first:
        refused = claim(str(tmp_path), mine(), [resource])
        (found,) = refused.findings
        assert (found.code, found.exit_code) == (code, 75)
        assert f"qwen-profile as qwen, run ab12cd34, process {first.pid}" in found.message
        assert conflicts(str(tmp_path), [resource]) == (found,)


def test_what_nobody_wants_is_given(tmp_path: Path) -> None:
    with holder(tmp_path), claim(str(tmp_path), mine(), [OTHER_GPU, instances.port(8001)]) as made:
        assert made.findings == ()
        assert conflicts(str(tmp_path), [instances.instance("other")]) == ()


def test_all_or_nothing_a_refused_claim_holds_none_of_it(tmp_path: Path) -> None:
    with holder(tmp_path):
        assert claim(str(tmp_path), mine(), [OTHER_GPU, PORT]).findings
        with claim(str(tmp_path), mine("third"), [OTHER_GPU]) as made:
            assert made.findings == ()


def test_the_kernel_lets_go_of_what_a_killed_launcher_held(tmp_path: Path) -> None:
    with holder(tmp_path) as first:
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert list(tmp_path.glob("*.lock")), "the control: its files are still there"
        assert running(str(tmp_path)) == ()
        with claim(str(tmp_path), mine(), [NAME, GPU, PORT]) as made:
            assert made.findings == ()


def test_a_sweep_removes_what_the_dead_left_and_nothing_else(tmp_path: Path) -> None:
    with holder(tmp_path) as first, claim(str(tmp_path), mine(), [OTHER_GPU]) as made:
        assert instances.stale(str(tmp_path)) == ()
        first.send_signal(signal.SIGKILL)
        first.wait()
        dead = {resource.file(tmp_path) for resource in (NAME, GPU, PORT)}
        assert {path for path, _ in instances.stale(str(tmp_path))} == dead
        instances.sweep(str(tmp_path), spared=["ab12cd34"])
        assert all(path.exists() for path in dead), "somebody is still ending that run"
        instances.sweep(str(tmp_path))
        assert list(tmp_path.iterdir()) == [OTHER_GPU.file(tmp_path)]
        assert made.findings == ()
        assert conflicts(str(tmp_path), [OTHER_GPU]), "the living one still has its lock"


def test_a_lock_that_a_child_of_the_dead_still_has_is_not_swept(tmp_path: Path) -> None:
    """What a server that gpulaunch became has left behind."""
    child = "made.keep_through_exec(); print(subprocess.Popen(['sleep', '60'], close_fds=False).pid, file=sys.stderr)"
    with holder(tmp_path, child) as first:
        (pid,) = Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()
        try:
            first.send_signal(signal.SIGKILL)
            first.wait()
            instances.sweep(str(tmp_path))
            assert NAME.file(tmp_path).exists()
            (found,) = claim(str(tmp_path), mine(), [NAME]).findings
            assert "which has ended; a process that it left behind has the lock" in found.message
        finally:
            os.kill(int(pid), signal.SIGKILL)


def test_its_children_do_not_inherit_it(tmp_path: Path) -> None:
    with holder(tmp_path, "subprocess.Popen(['sleep', '60'], start_new_session=True)") as first:
        (child,) = Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()
        first.send_signal(signal.SIGKILL)
        first.wait()
        with claim(str(tmp_path), mine(), [NAME]) as made:
            assert made.findings == ()
        os.kill(int(child), signal.SIGKILL)


def test_what_it_becomes_keeps_it(tmp_path: Path) -> None:
    become = "print('claimed', flush=True); made.keep_through_exec(); os.execvp('sleep', ['sleep', '60'])"
    with holder(tmp_path, become) as first:
        eventually(lambda: Path(f"/proc/{first.pid}/comm").read_text() == "sleep\n")
        (found,) = claim(str(tmp_path), mine(), [NAME]).findings
        assert f"process {first.pid} (sleep 60)" in found.message
        assert [entry.run_id for entry in running(str(tmp_path))] == ["ab12cd34"]


def test_a_release_leaves_no_file_behind(tmp_path: Path) -> None:
    with claim(str(tmp_path / "locks"), mine(), [NAME, GPU, PORT]):
        files = list((tmp_path / "locks").iterdir())
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
        assert len(files) == 3
        assert [entry.instance for entry in running(str(tmp_path / "locks"))] == ["other"]
    assert list((tmp_path / "locks").iterdir()) == []


def test_a_file_that_is_no_record_of_ours_breaks_nothing(tmp_path: Path) -> None:
    for content in ("", "{", "[]", '{"pid": "x"}', json.dumps({"pid": 1})):
        NAME.file(tmp_path).write_text(content)
        assert running(str(tmp_path)) == ()
        assert conflicts(str(tmp_path), [NAME]) == ()
        with claim(str(tmp_path), mine(), [NAME]) as made:
            assert made.findings == ()


def test_where_no_lock_can_be_made_a_launch_goes_on_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    made = claim(str(tmp_path / "file"), mine(), [NAME])
    assert [finding.code for finding in made.findings] == ["locks-unwritable"]


_RACE = """
import sys, time
from launcher import instances
while time.monotonic() < float(sys.argv[2]):
    pass
who = instances.claimant("n", "n", "00000000")
made = instances.claim(sys.argv[1], who, [instances.instance(sys.argv[3]), instances.port(8000)])
print("refused" if made.findings else "claimed", flush=True)
sys.stdin.read()
"""


def test_of_many_at_the_same_moment_one_gets_it(tmp_path: Path) -> None:
    for attempt in range(3):
        at, folder = str(time.monotonic() + 1), str(tmp_path / str(attempt))
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", _RACE, folder, at, f"instance-{number}"],
                cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for number in range(4)
        ]  # fmt: skip
        said = [racer.stdout.readline().strip() for racer in racers if racer.stdout]
        for racer in racers:
            racer.communicate()
        assert sorted(said) == ["claimed", "refused", "refused", "refused"]
