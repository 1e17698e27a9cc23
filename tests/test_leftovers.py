"""What an earlier run left behind is found, told and removed with proof alone: every process here is a real one."""

from __future__ import annotations

import json
import mmap
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher import leftovers
from launcher.leftovers import Leftover, Machine
from launcher.supervise import processes, segments
from launcher.supervise.guarding import Guard
from launcher.supervise.segments import Segment
from tests.helpers import eventually
from tests.hostiles import hostile
from tests.hostiles import processes as announced
from tests.launching import Launch
from tests.orphans import (
    alone,
    gpulaunch,
    guards_of,
    kill_with_guard,
    launching,
    orphaned,
    places_of,
    run_id,
    segment_of,
)

pytestmark = pytest.mark.xdist_group("clean")  # which looks at everybody, and ends what it can prove

DEAF = ("--worker", "--worker-ignores-term", "--double-fork")


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    with alone(), launching(tmp_path) as made:
        yield made


@pytest.fixture
def segment(launch: Launch) -> Iterator[Path]:
    with segment_of(launch) as path:
        yield path


def found(launch: Launch) -> tuple[Leftover, ...]:
    """What is left, as far as it is this launch's: other tests may run on this machine."""
    return tuple(entry for entry in leftovers.look(Machine(places_of(launch))) if entry.run_id == run_id(launch))


def pids(entries: tuple[Leftover, ...]) -> list[int]:
    return sorted(entry.process.pid for entry in entries if entry.process is not None)


def left(launch: Launch) -> list[int]:
    return sorted(process.pid for process in launch.corral.survivors())


def recorded(launch: Launch) -> bool:
    return (launch.run_folder / "segments.json").exists()


# ----------------------------------------------------------------------------------------------------------------------
# Processes


def test_what_a_killed_launcher_and_a_killed_guard_left_is_found_and_ended(launch: Launch) -> None:
    server = orphaned(launch, *DEAF)
    assert left(launch) == sorted(server), "the control: nobody swept"
    assert pids(found(launch)) == sorted(server)
    assert all(entry.ours for entry in found(launch))
    assert gpulaunch(launch, "clean").returncode == 0
    assert launch.corral.wait_empty(5) == []
    assert found(launch) == ()


def test_a_worker_that_wiped_its_name_and_its_environment_is_found_by_its_limit(launch: Launch) -> None:
    server = orphaned(launch, "--worker", "--worker-setproctitle")
    assert pids(found(launch)) == sorted(server)
    record, aside = launch.run_folder / "processes.json", launch.folder / "aside"
    record.rename(aside)  # nobody wrote down its pid
    entries = leftovers.look(Machine(places_of(launch)))
    aside.rename(record)
    assert sorted(server) == pids(tuple(entry for entry in entries if entry.run_id == run_id(launch)))


def test_a_strangers_process_of_the_same_command_line_is_not_touched(launch: Launch) -> None:
    server = orphaned(launch)
    stranger = launch.corral.spawn(hostile("--pid-file", launch.folder / "stranger"))
    announced(launch.folder / "stranger")
    assert stranger.pid not in pids(leftovers.look(Machine(places_of(launch))))
    gpulaunch(launch, "clean")
    assert left(launch) == [stranger.pid]
    assert server


def test_a_run_that_is_running_is_not_left_over(launch: Launch) -> None:
    launch.start("--pid-file", launch.folder / "pids", *DEAF).until_ready()
    alive = left(launch)
    assert found(launch) == ()
    assert gpulaunch(launch, "clean").returncode == 0
    assert left(launch) == alive
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_a_run_whose_lock_and_record_are_elsewhere_is_known_by_its_guard(launch: Launch, tmp_path: Path) -> None:
    """Another user's instance, or one in a container below us."""
    launch.start("--pid-file", launch.folder / "pids", *DEAF).until_ready()
    places = places_of(launch)
    elsewhere = type(places)(**{**vars(places), "state": str(tmp_path / "none"), "locks": str(tmp_path / "none")})
    entries = leftovers.look(Machine(elsewhere))
    assert [entry for entry in entries if entry.run_id == run_id(launch)] == []
    kill_with_guard(launch)
    (server, *_) = (entry for entry in leftovers.look(Machine(elsewhere)) if entry.run_id == run_id(launch))
    assert server.ours
    assert "no supervisor is above it" in server.how


def test_a_mark_in_the_environment_alone_proves_nothing(launch: Launch) -> None:
    """Anybody may set a variable."""
    marked = {**os.environ, "GPULAUNCH_RUN_ID": "0badcafe"}
    somebody = launch.corral.spawn(hostile("--pid-file", launch.folder / "pids"), env=marked)
    announced(launch.folder / "pids")
    entries = leftovers.look(Machine(places_of(launch)))
    (entry,) = (entry for entry in entries if entry.run_id == "0badcafe")
    assert (entry.name, entry.ours) == (str(somebody.pid), False)
    done = gpulaunch(launch, "clean")
    assert done.returncode == 0
    assert f"not touched: process {somebody.pid}" in done.stderr
    assert left(launch) == [somebody.pid]


@pytest.mark.parametrize("cgroup", ["/sys/fs/cgroup/none", None], ids=["cgroup", "none"])
def test_a_guard_is_known_by_its_command_line(cgroup: str | None) -> None:
    """The last word of one without a cgroup is empty, and /proc shows nothing of it."""
    guard = Guard("0badbeef", cgroup)
    assert guard.pid is not None
    ours = (guard.pid, "0badbeef")
    eventually(lambda: ours in [(process.pid, of_run) for of_run, process in leftovers.guards()])
    guard.farewell()


@pytest.mark.parametrize("world", [["another boot", ""], None], ids=["another boot", "none told"])
def test_a_record_of_another_boot_names_nobody_of_this_one(launch: Launch, world: object) -> None:
    """The pid and the start time of a boot long ago may be somebody else's today."""
    launch.start("--pid-file", launch.folder / "pids").until_ready()
    stranger = launch.corral.spawn(hostile("--pid-file", launch.folder / "stranger"))
    announced(launch.folder / "stranger")
    launch.signal(signal.SIGTERM).wait()
    file = launch.run_folder / "processes.json"
    record = json.loads(file.read_text())
    start = int(Path(f"/proc/{stranger.pid}/stat").read_text().rpartition(") ")[2].split()[19])
    file.write_text(json.dumps({**record, "processes": [[stranger.pid, start]]}))
    assert pids(found(launch)) == [stranger.pid], "the control: it is told to be ours"
    file.write_text(json.dumps({**record, "processes": [[stranger.pid, start]], "world": world}))
    assert found(launch) == ()


# ----------------------------------------------------------------------------------------------------------------------
# Told at a start, or waited for


def test_the_next_start_says_what_is_left_and_who_holds_the_port(launch: Launch) -> None:
    (server,) = orphaned(launch)
    launch.run(launch.command(), launch.environ)
    assert launch.wait() == 75
    assert f"Process {server} (" in launch.errors
    assert "is left of an earlier run" in launch.errors
    assert f"taken by process {server} (" in launch.errors
    assert f"run {run_id(launch)} of gpulaunch" in launch.errors


def test_after_an_orderly_end_nothing_is_told(launch: Launch) -> None:
    """The control."""
    launch.start().until_ready().signal(signal.SIGTERM).wait()
    launch.run(launch.command(), launch.environ).until_ready()
    assert "earlier run" not in launch.errors
    launch.signal(signal.SIGTERM).wait()


def test_a_guard_that_is_still_at_work_is_waited_for(launch: Launch) -> None:
    """vllm-project/vllm#9737: a unit restarts faster than what was left is gone; the holder is ours, and will end."""
    launch.grace = "0.5s"
    launch.start("--ignore-term").until_ready()
    (guard,) = guards_of(launch)
    processes.send(guard, signal.SIGSTOP)  # a machine so busy that it does not get its turn
    launch.signal(signal.SIGKILL).wait()
    launch.run(launch.command(), launch.environ).until("waiting until the guard of an earlier run")
    processes.send(guard, signal.SIGCONT)
    assert launch.until_ready().signal(signal.SIGTERM).wait() == 0


def test_locks_of_the_dead_are_gone_after_the_next_start(launch: Launch) -> None:
    orphaned(launch)
    locks = Path(places_of(launch).locks)
    mine = {locks / f"instance-{launch.instance}.lock", locks / f"port-{launch.port}.lock"}
    assert all(lock.exists() for lock in mine), "the control: a killed launcher removes nothing"
    launch.run(launch.command(), launch.environ)
    assert launch.wait() == 75  # the orphan holds the port
    assert not any(lock.exists() for lock in mine)


# ----------------------------------------------------------------------------------------------------------------------
# Segments


def test_a_segment_that_the_run_mapped_is_removed_when_nobody_has_it(launch: Launch, segment: Path) -> None:
    launch.start("--leave-shm", segment.name).until_ready()
    eventually(lambda: recorded(launch), what="the run writes down what its processes map")
    assert [entry for entry in found(launch) if entry.kind == "segment"] == [], "the run is running"
    launch.signal(signal.SIGTERM).wait()
    (entry,) = (entry for entry in found(launch) if entry.kind == "segment")
    assert (entry.name, entry.ours) == (str(segment), True)
    assert gpulaunch(launch, "clean").returncode == 0
    assert not segment.exists()


def test_a_segment_that_somebody_has_is_kept(launch: Launch, segment: Path) -> None:
    launch.start("--leave-shm", segment.name).until_ready()
    eventually(lambda: recorded(launch), what="the run writes down what its processes map")
    with segment.open("r+b") as file, mmap.mmap(file.fileno(), mmap.PAGESIZE):
        launch.signal(signal.SIGTERM).wait()
        assert [entry for entry in found(launch) if entry.kind == "segment"] == []
        assert gpulaunch(launch, "clean").returncode == 0
    assert segment.exists()


def test_another_file_of_the_same_name_is_kept(launch: Launch, segment: Path) -> None:
    launch.start("--leave-shm", segment.name).until_ready()
    eventually(lambda: recorded(launch), what="the run writes down what its processes map")
    launch.signal(signal.SIGTERM).wait()
    keeper = segment.with_name(f"{segment.name}-first")  # holds the first inode, so that the second is another one
    segment.rename(keeper)
    try:
        segment.write_bytes(b"somebody else's")
        assert gpulaunch(launch, "clean").returncode == 0
        assert segment.read_bytes() == b"somebody else's"
    finally:
        keeper.unlink()


def test_a_strangers_segment_of_a_usual_name_is_told_and_kept(launch: Launch, segment: Path) -> None:
    segment.write_bytes(b"whose?")
    os.utime(segment, (0, 0))
    entries = leftovers.look(Machine(places_of(launch)))
    (entry,) = (entry for entry in entries if entry.name == str(segment))
    assert (entry.ours, entry.run_id) == (False, None)
    assert gpulaunch(launch, "clean").returncode == 0
    assert segment.read_bytes() == b"whose?"


def test_what_was_there_before_the_run_is_not_the_runs(launch: Launch, segment: Path) -> None:
    """Somebody may keep a store there, and the server only uses it."""
    store = segment.with_name(f"{segment.name}-store")
    store.write_bytes(b"kept")
    try:
        launch.start("--leave-shm", store.name, "--leave-shm", segment.name).until_ready()
        eventually(lambda: recorded(launch), what="the run writes down what its processes map")
        launch.signal(signal.SIGTERM).wait()
        assert [entry.name for entry in found(launch) if entry.kind == "segment"] == [str(segment)]
        assert gpulaunch(launch, "clean").returncode == 0
        assert store.exists()
    finally:
        store.unlink()


def test_what_a_process_maps_is_seen_among_what_is_there(segment: Path) -> None:
    segment.write_bytes(bytes(mmap.PAGESIZE))
    with segment.open("r+b") as file, mmap.mmap(file.fileno(), mmap.PAGESIZE):
        own = Segment(str(segment), segment.stat().st_ino)
        assert own in segments.mapped(os.getpid())
        assert own in segments.present()


def test_maps_are_read_as_the_kernel_writes_them() -> None:
    text = (
        b"7f0000000000-7f0000001000 rw-s 00000000 00:19 42                         /dev/shm/nccl-4fJq2x\n"
        b"7f0000001000-7f0000002000 rw-s 00000000 00:19 43                         /dev/shm/psm_a1b2 (deleted)\n"
        b"7f0000002000-7f0000003000 rw-s 00000000 00:19 44                         /dev/shm/a name\n"
        b"7f0000003000-7f0000004000 r-xp 00000000 08:01 45                         /usr/lib/dev/shm/libc.so.6\n"
        b"7f0000004000-7f0000005000 rw-p 00000000 00:00 0\n"
    )
    assert segments.parse(text) == {Segment("/dev/shm/nccl-4fJq2x", 42), Segment("/dev/shm/a name", 44)}
