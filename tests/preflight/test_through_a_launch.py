"""The last moment of a real launch: its exit code, and nothing started. GPUs are those of the stand-in for NVML."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher import preflight
from launcher.preflight import CHECKS, last_moment
from tests.hostiles import hostile
from tests.hostiles import processes as announced
from tests.launching import Launch
from tests.nvml import Nvml
from tests.orphans import launching
from tests.preflight.conftest import Make


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    with launching(tmp_path) as made:
        yield made


def refused(launch: Launch, gpus: Nvml, wish: dict[str, object]) -> int:
    """The code of a launch with these `gpus:` in its profile, which must not start anything."""
    pids = launch.folder / "pids"
    code = launch.start("--pid-file", pids, environ=gpus.environ, gpus=wish).wait()
    assert not pids.exists()
    return code


def test_memory_in_other_hands_is_75_and_its_holder_is_named(launch: Launch, gpus: Nvml) -> None:
    neighbour = launch.corral.spawn(hostile("--pid-file", launch.folder / "neighbour"))
    announced(launch.folder / "neighbour")
    gpus.holds(neighbour.pid, gpus.total - 1000)
    assert refused(launch, gpus, {"count": 1}) == 75
    assert f"process {neighbour.pid} (" in launch.errors
    assert "user " in launch.errors
    assert f"holds {gpus.total - 1000:,} MiB" in launch.errors


def test_fewer_gpus_than_asserted_are_69(launch: Launch, gpus: Nvml) -> None:
    assert refused(launch, gpus, {"count": 2}) == 69


def test_another_capability_than_asserted_is_69(launch: Launch, gpus: Nvml) -> None:
    assert refused(launch, gpus, {"capability": "9.0"}) == 69


def test_a_driver_of_two_versions_is_69(launch: Launch, gpus: Nvml) -> None:
    gpus.error = 18
    gpus.write()
    assert refused(launch, gpus, {"count": 1}) == 69
    assert "driver-mismatch" in launch.errors


def test_gpus_that_appear_in_time_are_waited_for(launch: Launch, gpus: Nvml) -> None:
    gpus.gpus = 0
    gpus.write()
    launch.start(environ=gpus.environ, gpus={"count": 1, "wait": "20s"}).until("waiting for 1 GPUs, 0 of which")
    gpus.gpus = 1
    gpus.write()
    launch.until_ready().signal(15)
    assert launch.wait() == 0


def test_two_launches_that_want_one_gpu_do_not_get_it_both(launch: Launch, gpus: Nvml) -> None:
    environ = {**gpus.environ, "XDG_RUNTIME_DIR": str(launch.folder)}  # one folder for the locks of one user
    launch.start(environ=environ, gpus={"count": 1}).until_ready()
    assert launch.process is not None
    other = Launch(launch.corral, launch.folder / "other", name="other")
    other.folder.mkdir(mode=0o700)
    assert other.start(environ=environ, gpus={"count": 1}).wait() == 75
    assert "gpu-claimed" in other.errors
    assert f"process {launch.process.pid} " in other.errors
    launch.signal(15)
    assert launch.wait() == 0


def test_all_of_it_takes_milliseconds(moment: Make) -> None:
    """Of this process's own time, which a busy machine does not change; NVML and the port's holder are asked apart."""
    made = moment()
    begin = time.process_time()
    last_moment(made)
    assert time.process_time() - begin < 0.1


def test_every_check_is_one_file_and_in_the_table() -> None:
    files = {path.stem for path in Path(preflight.__file__).parent.glob("*.py")} - {"__init__", "moment"}
    assert sorted(check.__module__.rpartition(".")[2] for check in CHECKS) == sorted(files)
