"""The count of survivors can be trusted: it sees the process that hides best, and nothing where nothing is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import eventually
from tests.hostiles import hostile, processes
from tests.survivors import CgroupCorral, Corral, FencedCorral, NamespaceCorral, parse_stat

KINDS = {"reaper": Corral, "cgroup": CgroupCorral, "namespace": NamespaceCorral, "fenced": FencedCorral}

HIDDEN = ("--worker", "--double-fork", "--worker-ignores-term", "--worker-setproctitle")


@pytest.fixture(params=list(KINDS.values()), ids=list(KINDS))
def corral(request: pytest.FixtureRequest) -> Iterator[Corral]:
    reason = request.param.unavailable()
    if reason:
        pytest.skip(reason)
    with request.param() as opened:
        yield opened


def test_an_orphan_without_name_marks_or_manners_is_counted(corral: Corral, tmp_path: Path) -> None:
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids", *HIDDEN))
    processes(tmp_path / "pids")
    server.terminate()
    server.wait(10)
    (left,) = corral.survivors()
    assert left.comm == "renamed worker"
    assert left.cmdline == ("renamed worker",)
    assert not Path(f"/proc/{left.pid}/environ").read_bytes().strip(b"\0")
    assert left.parent != server.pid
    os.kill(left.pid, signal.SIGTERM)
    assert corral.wait_empty(0.1) == [left]


def test_a_server_that_leaves_nobody_behind_leaves_an_empty_corral(corral: Corral, tmp_path: Path) -> None:
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids"))
    processes(tmp_path / "pids")
    assert [process.pid for process in corral.survivors()] == [server.pid]
    server.terminate()
    assert corral.wait_empty(10) == []
    assert server.wait(10) == 0


def test_waiting_ends_with_the_last_of_them(corral: Corral, tmp_path: Path) -> None:
    corral.spawn(hostile("--pid-file", tmp_path / "pids", "--worker", "--worker", "--double-fork"))
    processes(tmp_path / "pids")
    three = corral.survivors()
    assert len(three) == 3
    for process in three:
        os.kill(process.pid, signal.SIGTERM)
    assert corral.wait_empty(10) == []


@pytest.mark.parametrize("kind", list(KINDS.values()), ids=list(KINDS))
def test_whoever_is_left_is_killed_when_the_corral_closes(kind: type[Corral], tmp_path: Path) -> None:
    reason = kind.unavailable()
    if reason:
        pytest.skip(reason)
    with kind() as corral:
        corral.spawn(hostile("--pid-file", tmp_path / "pids", "--ignore-term", *HIDDEN))
        processes(tmp_path / "pids")
        left = corral.survivors()
        assert len(left) == 2
    assert not [process for process in left if Path(f"/proc/{process.pid}").exists()]


def test_what_the_test_started_earlier_is_not_counted_and_not_killed() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as earlier:
        with Corral() as corral:
            assert corral.survivors() == []
        assert earlier.poll() is None


def test_the_namespace_has_its_own_numbers_and_the_process_keeps_its_environment(tmp_path: Path) -> None:
    if reason := NamespaceCorral.unavailable():
        pytest.skip(reason)
    program = "import os; print(os.getpid(), os.readlink('/proc/self'), os.getcwd(), sorted(os.environ))"
    with NamespaceCorral() as corral:
        process = corral.spawn(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={"A": "1", "LC_ALL": "C"},
        )
        assert process.stdout is not None
        inside, through_proc, folder, names = process.stdout.read().split(maxsplit=3)
    assert inside == through_proc
    assert int(inside) < 10 < process.pid
    assert folder == str(tmp_path)
    assert "'A', 'LC_ALL'" in names and "PATH" not in names and "PWD" not in names


def test_an_orphan_of_the_namespace_is_reaped_by_its_init(tmp_path: Path) -> None:
    if reason := NamespaceCorral.unavailable():
        pytest.skip(reason)
    with NamespaceCorral() as corral:
        server = corral.spawn(hostile("--pid-file", tmp_path / "pids", "--worker", "--double-fork"))
        processes(tmp_path / "pids")
        (worker,) = (process for process in corral.survivors() if process.pid != server.pid)
        os.kill(worker.pid, signal.SIGKILL)
        eventually(lambda: not Path(f"/proc/{worker.pid}").exists(), what="the dead worker is reaped")


def test_a_cgroup_made_inside_is_counted_and_removed(tmp_path: Path) -> None:
    if reason := CgroupCorral.unavailable():
        pytest.skip(reason)
    with CgroupCorral() as corral:
        server = corral.spawn(hostile("--pid-file", tmp_path / "pids"))
        processes(tmp_path / "pids")
        assert corral.cgroup is not None
        inner = corral.cgroup.folder / "inner"
        inner.mkdir()
        (inner / "cgroup.procs").write_text(str(server.pid))
        assert corral.cgroup.pids() == [server.pid]
        assert corral.cgroup.populated()
    assert not inner.parent.exists()


@given(comm=st.text("() Z1a", max_size=15), pid=st.integers(1, 1 << 22))
def test_a_name_of_any_shape_does_not_shift_the_fields(comm: str, pid: int) -> None:
    fields = ["S", "7", *("0" for _ in range(15)), "1", "0", "4242", "0"]
    stat = parse_stat(f"{pid} ({comm}) {' '.join(fields)}")
    assert (stat.pid, stat.comm, stat.alive, stat.parent, stat.started) == (pid, comm, True, 7, 4242)


@pytest.mark.parametrize(
    ("letter", "threads", "alive"), [("Z", 1, False), ("X", 0, False), ("Z", 3, True), ("T", 1, True)]
)
def test_a_zombie_counts_only_while_threads_of_it_run(letter: str, threads: int, alive: bool) -> None:
    fields = [letter, "1", *("0" for _ in range(15)), str(threads), "0", "5", "0"]
    assert parse_stat(f"9 (x) {' '.join(fields)}").alive is alive
