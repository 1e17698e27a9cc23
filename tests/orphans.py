"""How tests get what an earlier run left behind: gpulaunch is killed, and its guard before it, so nobody sweeps."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from launcher import leftovers
from launcher.paths import Places, places
from launcher.supervise import processes
from launcher.supervise.processes import Process
from tests.helpers import eventually
from tests.hostiles import processes as announced
from tests.launching import Launch
from tests.survivors import Corral


@contextmanager
def launching(folder: Path) -> Iterator[Launch]:
    """A launch that has not been started; all of it is ended; its locks and cgroups are removed."""
    with Corral() as corral:
        made = Launch(corral, folder)
        yield made
    made.remove_locks()
    machine = leftovers.Machine(places_of(made))
    leftovers.clean(machine, [entry for entry in leftovers.look(machine) if entry.kind == "cgroup"])


@contextmanager
def segment_of(launch: Launch) -> Iterator[Path]:
    """A name in /dev/shm that no other test has; removed where it is still there."""
    path = Path("/dev/shm", f"nccl-of-a-test-{launch.port}")
    yield path
    path.unlink(missing_ok=True)


@contextmanager
def alone() -> Iterator[None]:
    """One at a time, over all processes that run tests: what one leaves behind another one's `clean` would end."""
    with Path(tempfile.gettempdir(), f"gpulaunch-tests-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def places_of(launch: Launch) -> Places:
    """Where this launch writes."""
    return places(launch.environ, home=None, uid=os.getuid())


def run_id(launch: Launch) -> str:
    """Of the latest run."""
    return launch.run_folder.resolve().name.rpartition("-")[2]


def orphaned(launch: Launch, *flags: Any, **keys: Any) -> list[int]:
    """The pids of a ready server, and its workers, whose gpulaunch and guard were killed."""
    pids = launch.folder / "pids"
    launch.start("--pid-file", pids, *flags, **keys).until_ready()
    kill_with_guard(launch)
    return [int(str(entry["pid"])) for entry in announced(pids)]


def guards_of(launch: Launch) -> list[Process]:
    """The guard of the latest run, by its command line."""
    return [process for of_run, process in leftovers.guards() if of_run == run_id(launch)]


def kill_with_guard(launch: Launch) -> None:
    """Stopped first: a gpulaunch that lives would start another guard."""
    assert launch.process is not None
    stopped = launch.process.pid
    launch.signal(signal.SIGSTOP)
    eventually(lambda: (found := processes.status(stopped)) is not None and found.state == "T")
    ours = guards_of(launch)
    assert ours, "it has a guard"
    for process in ours:
        processes.send(process, signal.SIGKILL)
        eventually(lambda gone=process: not processes.is_alive(gone))
    launch.signal(signal.SIGKILL).wait()


def gpulaunch(launch: Launch, *words: str) -> subprocess.CompletedProcess[str]:
    """Another command line of the same caller."""
    command = [sys.executable, "-m", "launcher", *words]
    return subprocess.run(
        command, env=launch.environ, cwd=launch.folder, capture_output=True, text=True, timeout=60, check=False
    )
