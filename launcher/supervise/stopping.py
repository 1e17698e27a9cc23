"""`gpulaunch stop`: asks the supervisor of a run to stop it, and waits until it has, but not for ever.

A supervisor that does not end in the time that a stop takes at most was stopped itself, or hangs: that is said.
"""

from __future__ import annotations

import os
import select
import signal
from dataclasses import dataclass

from launcher.runs import Recorded
from launcher.supervise import processes
from launcher.supervise.naming import command_of
from launcher.supervise.processes import Process

BEYOND_GRACE = 30.0  # seconds after the grace in which a stop ends: the sweep, the port, the GPUs' memory


@dataclass(frozen=True)
class Stopped:
    """What became of it. `was_running` False: nothing was to be done. `problem`: why it has not ended."""

    was_running: bool
    exit_code: int | None = None
    problem: str = ""


def stop_run(run: Recorded, within: float | None = None) -> Stopped:
    """SIGTERM to the supervisor that the run folder names, if it still is that very process.

    `within` seconds, by default the run's own grace and what a stop takes beyond it.
    """
    record = run.read("processes.json") or {}
    supervisor = record.get("supervisor")
    if not supervisor or run.read("outcome.json") is not None:
        return Stopped(was_running=False)
    patience = float(record.get("grace") or 0.0) + BEYOND_GRACE if within is None else within
    stopped = stop_process(Process(*supervisor), patience)
    if not stopped.was_running or stopped.problem:
        return stopped
    outcome = run.read("outcome.json") or {}
    return Stopped(was_running=True, exit_code=outcome.get("exit_code"))


def stop_process(process: Process, patience: float) -> Stopped:
    """The same for a supervisor that is known by its process alone: its run has no folder here, or none to be read."""
    if not processes.is_alive(process):
        return Stopped(was_running=False)
    ended = end(process, patience)
    if ended is None:
        return Stopped(was_running=True, problem=_why_not(process, patience))
    return Stopped(was_running=bool(ended))


def end(process: Process, within: float | None = None) -> bool | None:
    """SIGTERM to this supervisor, and waits until it is gone. False if it was gone, or is another user's; None if it
    is there after so many seconds (`within` None: as long as it takes).
    """
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        if not processes.send(process, signal.SIGTERM):
            return False
        return True if select.select([handle], [], [], within)[0] else None
    finally:
        os.close(handle)


def _why_not(process: Process, patience: float) -> str:
    """What is known of a supervisor that does not do what it was asked for."""
    found = processes.status(process.pid)
    what = f"process {process.pid} ({command_of(process.pid)}) has not ended within {patience:g} s"
    if found is not None and found.state in "Tt":
        return f"{what}: it was stopped by a signal; kill -CONT {process.pid} lets it go on, and then it ends"
    return what
