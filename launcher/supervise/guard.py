"""The guard: a small process outside the server's tree that ends the run if gpulaunch itself is killed.

It is told over a pipe which processes belong to the run, as often as that changes; the end of the pipe without a word
of farewell means that gpulaunch is gone. It ignores the signals that systemd and terminals send to whole groups, and it
ends when the run is empty. How it finds the run's processes then, from sure to helpful:

1. the run's own cgroup, if there is one: complete, whatever the processes did;
2. the tree below the leader and below every process it was told of: the leader outlives gpulaunch (no PDEATHSIG, which
   would reach the leader alone and scatter the tree), so the tree is still whole when the guard looks;
3. the sessions of those processes; 4. the mark in their environment, which a process can wipe.

A worker that left the tree by a double fork is known if it lived at the last telling (at most a second ago).

Runs in a Python without site-packages; nothing but the standard library and `processes` beside it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from dataclasses import dataclass

from launcher.supervise import processes
from launcher.supervise.processes import Process

GRACE = 3.0  # seconds between TERM and KILL
_LOOK = 0.05  # seconds between looks while emptying
_GIVE_UP = 60.0  # seconds after which what is left is beyond reach


def main() -> int:
    """Reads tellings from standard input; empties the run if they end without a farewell."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    told = listen()
    if told is not None:
        empty(told)
    return 0


@dataclass(frozen=True)
class Told:
    """What belongs to the run: processes, a cgroup folder or "", a mark in environments."""

    processes: frozenset[Process]
    cgroup: str
    mark: bytes


def listen() -> Told | None:
    """The last telling, or None after a farewell (and if nothing was ever told)."""
    told = None
    for line in sys.stdin.buffer:
        if line == b"farewell\n":
            return None
        if line.endswith(b"\n"):
            told = parse(line)
    return told


def parse(line: bytes) -> Told:
    """One telling."""
    document = json.loads(line)
    members = frozenset(Process(*pair) for pair in document["processes"])
    return Told(members, document["cgroup"] or "", document["mark"].encode())


def empty(told: Told) -> None:
    """TERM to what is left, KILL after the grace, until nothing is left."""
    known = set(told.processes)
    begin = time.monotonic()
    asked: set[Process] = set()
    while time.monotonic() - begin < _GIVE_UP:
        left = _left(known, told)
        if not left:
            _remove_cgroup(told.cgroup)
            return
        known |= left
        late = time.monotonic() - begin > GRACE
        if late and told.cgroup:
            _kill_cgroup(told.cgroup)
        for process in left if late else left - asked:
            processes.send(process, signal.SIGKILL if late else signal.SIGTERM)
        asked |= left
        select.select([], [], [], _LOOK)


def _left(known: set[Process], told: Told) -> set[Process]:
    alive = {process for process in known if processes.is_alive(process)}
    sessions = {process.pid for process in known if _leads_a_session(process)}
    left = alive | set(processes.descendants([process.pid for process in alive]))
    left |= set(processes.in_sessions(sessions)) | set(processes.marked(told.mark))
    left |= {process for pid in _members(told.cgroup) if (process := processes.identify(pid)) is not None}
    return {process for process in left if process.pid != os.getpid() and processes.is_alive(process)}


def _leads_a_session(process: Process) -> bool:
    """True while a session of this process's own can be told apart from another one of the same number."""
    found = processes.status(process.pid)
    return found is not None and found.start == process.start and found.session == process.pid


def _members(cgroup: str) -> list[int]:
    try:
        with open(f"{cgroup}/cgroup.procs", "rb") as file:  # noqa: PTH123 - pathlib would double the guard's start
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _remove_cgroup(cgroup: str) -> None:
    """Nobody else is left to do it; the server may have made cgroups below."""
    for folder, _, _ in os.walk(cgroup, topdown=False) if cgroup else ():
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _kill_cgroup(cgroup: str) -> None:
    try:
        with open(f"{cgroup}/cgroup.kill", "w") as file:  # noqa: PTH123
            file.write("1")
    except OSError:
        pass
