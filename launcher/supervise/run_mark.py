"""A mark on every process of a run that none can lose by accident: the soft value of a resource limit without effect.

RLIMIT_LOCKS has limited nothing since Linux 2.4.25 (getrlimit(2)), yet every fork inherits it, and it outlives exec,
setsid, a double fork and a wiped environment; /proc/PID/limits shows it to everybody, also of processes that are not
dumpable. A process would have to set this one limit to lose the mark. Where it cannot be set, nothing is marked.

Imports nothing but the standard library and `processes`: the guard runs it in a Python without site-packages.
"""

from __future__ import annotations

import os

from launcher.supervise import processes
from launcher.supervise.processes import Process

_LOCKS = 10  # RLIMIT_LOCKS in <asm-generic/resource.h>; Python's resource module does not name it
_ROW = b"\nMax file locks"
_MOST = 1 << 14  # bytes: sixteen rows of less than a hundred
_FIRST = 1 << 62  # nobody's limit by chance, and still a positive number in 64 bits

Limits = tuple[int, int]


def value_of(run_id: str) -> int:
    """The limit that marks a run: its id, which is at most 12 hexadecimal digits, far above any real limit."""
    return _FIRST + int(run_id, 16)


def put(run_id: str) -> Limits | None:
    """Marks our own process, so that what it forks is marked from its first instant. Returns what was there before."""
    import resource

    try:
        before = resource.getrlimit(_LOCKS)
        resource.setrlimit(_LOCKS, (value_of(run_id), before[1]))
    except (OSError, ValueError):
        return None
    return before


def take_off(before: Limits | None) -> None:
    """Our own process is no part of the run any more."""
    import resource

    if before is not None:
        resource.setrlimit(_LOCKS, before)


def bearers(run_id: str) -> list[Process]:
    """Every living process with the mark of this run."""
    wanted = str(value_of(run_id)).encode()
    found = []
    for pid in processes.everybody():
        process = processes.identify(pid) if soft_locks(pid) == wanted else None
        if process is not None and processes.is_alive(process):
            found.append(process)
    return found


def run_of(pid: int) -> str | None:
    """The id of the run that a process bears the mark of."""
    limit = soft_locks(pid)
    number = int(limit) - _FIRST if limit is not None and limit.isdigit() else -1
    return f"{number:08x}" if 0 <= number < 1 << 48 else None


def soft_locks(pid: int) -> bytes | None:
    """The soft limit as /proc/PID/limits shows it, None for a process that is not there."""
    try:
        # Not open(): everybody's is read at each start, and this takes half of the time. The kernel gives it whole.
        descriptor = os.open(f"/proc/{pid}/limits", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        rows = os.read(descriptor, _MOST)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    _, found, rest = rows.partition(_ROW)
    return rest.split(maxsplit=1)[0] if found else None
