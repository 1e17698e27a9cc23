"""`gpulaunch stop`: asks the supervisor of a run to stop it, and waits until it has."""

from __future__ import annotations

import os
import select
import signal
from dataclasses import dataclass

from launcher.runs import Recorded
from launcher.supervise import processes
from launcher.supervise.processes import Process


@dataclass(frozen=True)
class Stopped:
    """What became of it. `was_running` False: nothing was to be done."""

    was_running: bool
    exit_code: int | None = None


def stop_run(run: Recorded) -> Stopped:
    """SIGTERM to the supervisor that the run folder names, if it still is that very process."""
    record = run.read("processes.json") or {}
    supervisor = record.get("supervisor")
    if not supervisor or run.read("outcome.json") is not None:
        return Stopped(was_running=False)
    process = Process(*supervisor)
    if not processes.is_alive(process) or not _end(process):
        return Stopped(was_running=False)
    outcome = run.read("outcome.json") or {}
    return Stopped(was_running=True, exit_code=outcome.get("exit_code"))


def _end(process: Process) -> bool:
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        if not processes.send(process, signal.SIGTERM):
            return False
        select.select([handle], [], [])
        return True
    finally:
        os.close(handle)
