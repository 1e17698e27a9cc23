"""Field reports on what earlier runs leave behind: found again by the next start, and ended on request alone."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher.model import Endpoint
from launcher.supervise.port import bind_problem
from tests.helpers import eventually, free_port
from tests.hostiles import hostile
from tests.hostiles import processes as announced
from tests.launching import Launch
from tests.orphans import alone, gpulaunch, kill_with_guard, launching, run_id, segment_of

pytestmark = pytest.mark.xdist_group("clean")  # which looks at everybody, and ends what it can prove
WORKERS = ("--worker", "--worker-ignores-term", "--double-fork")


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """Nobody else's `clean` ends what this one leaves."""
    with alone(), launching(tmp_path) as made:
        yield made


@pytest.fixture
def segment(launch: Launch) -> Iterator[Path]:
    with segment_of(launch) as path:
        yield path


def left(launch: Launch) -> list[int]:
    return sorted(process.pid for process in launch.corral.survivors())


def recorded(launch: Launch) -> list[int]:
    """The processes that the run's folder names."""
    record = json.loads((launch.run_folder / "processes.json").read_text())
    return sorted(pid for pid, _ in record["processes"])


def test_r083_workers_outlive_the_job_that_started_them_and_nobody_knows_of_them(launch: Launch) -> None:
    """sgl-project/sglang#23627: 100 GB each, and the next job ends out of memory."""
    server = launch.corral.spawn(hostile("--pid-file", launch.folder / "pids", *WORKERS), start_new_session=True)
    (_, worker) = (int(str(entry["pid"])) for entry in announced(launch.folder / "pids"))
    server.kill()
    server.wait(10)
    assert left(launch) == [worker]


def test_r083_the_next_start_knows_them_by_the_record_of_the_run(launch: Launch) -> None:
    launch.start("--pid-file", launch.folder / "pids", *WORKERS).until_ready()
    server = sorted(int(str(entry["pid"])) for entry in announced(launch.folder / "pids"))
    eventually(lambda: recorded(launch) == server, what="both stand in the run's folder")
    kill_with_guard(launch)
    assert left(launch) == server
    launch.run(launch.command(), launch.environ).wait()
    for pid in server:
        assert f"Process {pid} (" in launch.errors
    assert gpulaunch(launch, "clean").returncode == 0
    assert launch.corral.wait_empty(5) == []


def test_r083_after_a_stop_there_is_nothing_to_know(launch: Launch) -> None:
    launch.start(*WORKERS).until_ready().signal(signal.SIGTERM).wait()
    launch.run(launch.command(), launch.environ).until_ready()
    assert "leftover" not in launch.errors
    launch.signal(signal.SIGTERM).wait()


def test_r084_a_worker_that_left_the_tree_keeps_an_inner_port_after_a_group_kill(launch: Launch) -> None:
    """sgl-project/sglang#31645: for an hour."""
    inner = free_port()
    flags = ("--pid-file", launch.folder / "pids", *WORKERS, "--worker-port", inner)
    server = launch.corral.spawn(hostile(*flags), start_new_session=True)
    announced(launch.folder / "pids")
    eventually(lambda: bind_problem(Endpoint(host="127.0.0.1", port=inner)))
    server.kill()
    server.wait(10)
    assert bind_problem(Endpoint(host="127.0.0.1", port=inner)) is not None


def test_r084_stopped_means_that_the_inner_port_is_free_too(launch: Launch) -> None:
    inner = free_port()
    launch.start("--pid-file", launch.folder / "pids", *WORKERS, "--worker-port", inner).until_ready()
    eventually(lambda: bind_problem(Endpoint(host="127.0.0.1", port=inner)))
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert bind_problem(Endpoint(host="127.0.0.1", port=inner)) is None
    assert left(launch) == []


def test_r104_each_crash_of_a_plain_server_leaves_its_segments(launch: Launch, segment: Path) -> None:
    """llm-d/llm-d#352: until /dev/shm is full and no start succeeds any more."""
    server = launch.corral.spawn(hostile("--pid-file", launch.folder / "pids", "--leave-shm", segment.name))
    announced(launch.folder / "pids")
    server.kill()
    server.wait(10)
    assert segment.exists()


def test_r104_segments_of_a_crash_are_told_at_the_next_start_and_cleaned_on_request(
    launch: Launch, segment: Path
) -> None:
    crash = launch.folder / "crash"
    launch.start("--leave-shm", segment.name, "--die-on-file", crash).until_ready()
    eventually((launch.run_folder / "segments.json").exists, what="the run writes down what its processes map")
    first = run_id(launch)
    crash.touch()
    assert launch.wait() == 137
    crash.unlink()
    launch.profile()
    launch.run(launch.command(), launch.environ).until_ready()
    assert f"{segment} (" in launch.errors
    assert f"processes of run {first} had it mapped" in launch.errors
    assert segment.exists(), "nothing is removed unasked"
    assert gpulaunch(launch, "clean").returncode == 0
    assert not segment.exists()
    assert launch.signal(signal.SIGTERM).wait() == 0
