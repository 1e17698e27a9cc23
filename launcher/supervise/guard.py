"""The guard: a small process outside the server's tree that ends the run if gpulaunch itself is killed.

It is told over a pipe which processes belong to the run, as often as that changes; the end of the pipe without a word
of farewell means that gpulaunch is gone. It ignores the signals that systemd and terminals send to whole groups, and it
ends when the run is empty. How it finds the run's processes then, from sure to helpful:

1. the run's own cgroup, if there is one: complete, whatever the processes did;
2. the run's mark in a resource limit (`run_mark`): complete too, needs no privilege, and no telling: a worker that left
   the tree by a double fork a moment ago, with a new session and a wiped environment, still bears it;
3. the tree below every process it was told of, and their sessions: the leader outlives gpulaunch (no PDEATHSIG, which
   would reach the leader alone and scatter the tree), so the tree is still whole when the guard looks;
4. the mark in the environment, which a process can wipe.

Runs in a Python without site-packages and imports as little as it can: it lives as long as the server.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterable

from launcher.supervise import processes, run_mark
from launcher.supervise.processes import Process

GRACE = 3.0  # seconds between TERM and KILL
FAREWELL = b"farewell\n"
_LOOK = 0.05  # seconds between looks while emptying
_GIVE_UP = 60.0  # seconds after which what is left is beyond reach
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


def main(run_id: str, cgroup: str) -> int:
    """Reads tellings from standard input; empties the run if they end without a farewell. `cgroup` "": there is none.

    `run_id` and `cgroup` are known before the server starts: a gpulaunch killed in between has told nothing yet.
    """
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    told = listen(sys.stdin.buffer)
    if told is not None:
        empty(told, run_id, cgroup)
    return 0


def listen(lines: Iterable[bytes]) -> set[Process] | None:
    """The processes of the last whole telling, or None after a farewell."""
    told: set[Process] = set()
    for line in lines:
        if line == FAREWELL:
            return None
        if line.endswith(b"\n"):
            told = parse(line)
    return told


def telling(members: Iterable[Process]) -> bytes:
    """One line: pid and start time of each process."""
    return " ".join(f"{process.pid}:{process.start}" for process in members).encode() + b"\n"


def parse(line: bytes) -> set[Process]:
    """The processes of one telling."""
    return {Process(*map(int, word.split(b":"))) for word in line.split()}


def empty(told: set[Process], run_id: str, cgroup: str, spared: Iterable[int] = ()) -> None:
    """TERM to what is left, KILL after the grace, until nothing is left. `spared` pids are no part of the run."""
    known = set(told)
    # Our parent is gpulaunch, which bears the mark, while it lives: then it gave up and wants us to do this.
    not_ours = {os.getpid(), os.getppid(), *spared}
    begin = time.monotonic()
    asked: set[Process] = set()
    empty_looks = 0
    while time.monotonic() - begin < _GIVE_UP:
        left = _left(known, run_id, cgroup, not_ours)
        # A process that forks and ends while we look can hide its child from one look, not from the next one.
        empty_looks = 0 if left else empty_looks + 1
        if empty_looks == 2:
            _remove_cgroup(cgroup)
            return
        if not left:
            continue
        known |= left
        late = time.monotonic() - begin > GRACE
        if late and cgroup:
            _kill_cgroup(cgroup)
        for process in left if late else left - asked:
            processes.send(process, signal.SIGKILL if late else signal.SIGTERM)
        asked |= left
        select.select([], [], [], _LOOK)


def _left(known: set[Process], run_id: str, cgroup: str, not_ours: set[int]) -> set[Process]:
    alive = {process for process in known if processes.is_alive(process)}
    sessions = {process.pid for process in known if _leads_a_session(process)}
    left = alive | set(processes.descendants([process.pid for process in alive]))
    left |= set(processes.in_sessions(sessions)) | set(run_mark.bearers(run_id))
    left |= set(processes.marked(b"GPULAUNCH_RUN_ID=" + run_id.encode()))
    left |= {process for pid in _members(cgroup) if (process := processes.identify(pid)) is not None}
    return {process for process in left if process.pid not in not_ours and processes.is_alive(process)}


def _leads_a_session(process: Process) -> bool:
    """True while a session of this process's own can be told apart from another one of the same number."""
    found = processes.status(process.pid)
    return found is not None and found.start == process.start and found.session == process.pid


def _members(cgroup: str) -> list[int]:
    """The pids in a cgroup and in those that the server made below it."""
    found = []
    for folder, _, _ in os.walk(cgroup) if cgroup else ():
        try:
            with open(f"{folder}/cgroup.procs", "rb") as file:  # noqa: PTH123 - pathlib would double the guard's start
                found += [int(pid) for pid in file.read().split()]
        except OSError:
            continue
    return found


def _remove_cgroup(cgroup: str) -> None:
    """Nobody else is left to do it; the server may have made cgroups below."""
    for folder, _, _ in os.walk(cgroup, topdown=False) if cgroup else ():
        try:
            os.rmdir(folder)
        except OSError:
            continue


def _kill_cgroup(cgroup: str) -> None:
    try:
        with open(f"{cgroup}/cgroup.kill", "w") as file:  # noqa: PTH123
            file.write("1")
    except OSError:
        pass
