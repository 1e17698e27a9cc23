"""Which processes belong to the run: whatever descends from us or lives in the run's cgroup, and was not here before.

We are their sub-reaper, so none leaves by a double fork; ours since before the start (`helper & exec gpulaunch ...` in
a container's entry point), and the guard, do not count.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

from launcher.supervise import cgroup, processes
from launcher.supervise.processes import Process

_PR_SET_CHILD_SUBREAPER = 36


class Family:
    """The run's processes. `known` are all that were ever seen."""

    def __init__(self) -> None:
        """Call it before anything is started: what we have now is not the server's."""
        self._foreign = set(processes.descendants([os.getpid()]))
        self._cgroup: Path | None = None
        self._guard: Callable[[], int | None] = lambda: None
        self.known: set[Process] = set()

    def live_in(self, folder: Path | None, guard: Callable[[], int | None]) -> None:
        """The run's cgroup, if it has one, and how to know the guard's pid now."""
        self._cgroup, self._guard = folder, guard

    def left(self) -> list[Process]:
        """Whatever belongs to the run and still lives."""
        found = set(processes.descendants([os.getpid()], without=self._guard()))
        if self._cgroup is not None:
            inside = (processes.identify(pid) for pid in cgroup.members(self._cgroup))
            found |= {process for process in inside if process is not None and processes.is_alive(process)}
        return sorted(found - self._not_ours())

    def is_empty(self) -> bool:
        """Two looks: a process that forks and ends meanwhile can hide its child from one."""
        return not self.left() and not self.left()

    def has(self, pid: int) -> bool:
        """True for a process of the server, also one that has ended since and is not yet collected."""
        now = processes.identify(pid)
        known = any(process.pid == pid and now in (process, None) for process in self.known)
        foreign = {process.pid for process in self._not_ours()}
        return known or processes.is_below(pid, os.getpid(), without=foreign)

    def kill_cgroup(self) -> None:
        """Everything in it at once, whatever forks meanwhile."""
        if self._cgroup is not None:
            cgroup.kill(self._cgroup)

    def _not_ours(self) -> set[Process]:
        """What we had before the start, with what it has started since."""
        if self._foreign:
            alive = [process.pid for process in self._foreign if processes.is_alive(process)]
            self._foreign.update(processes.descendants(alive))
        return self._foreign


def become_subreaper() -> None:
    """Orphans of the server become our children instead of process 1's: none can hide by a double fork."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl: {os.strerror(number)}")
