"""Processes by pid *and* start time: a pid alone may be somebody else's by the time it is signalled.

Imports nothing but the standard library and nothing of ours: the guard runs it in a Python without site-packages.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple


class Process(NamedTuple):
    """A process. `start` is its start time in clock ticks since boot, field 22 of /proc/PID/stat."""

    pid: int
    start: int


class Status(NamedTuple):
    """What /proc/PID/stat says, as far as it matters here."""

    state: str
    parent: int
    session: int
    threads: int
    start: int

    @property
    def alive(self) -> bool:
        """A process of which only the first thread has ended shows a zombie's letter and lives."""
        return self.state not in "ZX" or self.threads > 1


def status(pid: int) -> Status | None:
    """None for a process that is not there."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib would triple the guard's start
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Status(fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[17]), int(fields[19]))


def identify(pid: int) -> Process | None:
    """The process behind a pid now."""
    found = status(pid)
    return Process(pid, found.start) if found else None


def is_alive(process: Process) -> bool:
    """True while the very process runs; a zombie does not."""
    found = status(process.pid)
    return found is not None and found.start == process.start and found.alive


def children(pid: int) -> Iterator[int]:
    """The pids of a process's children."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                yield from (int(child) for child in file.read().split())
        except OSError:
            continue


def descendants(roots: Iterable[int], *, without: int | None = None) -> list[Process]:
    """Everything below these processes, whatever sessions and groups it made; zombies are left out.

    `without` does not count, nor what is below it. A process that forks and ends while we look can hide
    its child from one look, not from the next: whoever needs to know that nobody is left looks twice.
    """
    found: dict[int, Process] = {}
    pending = list(roots)
    seen = set(pending)
    while pending:
        for child in children(pending.pop()):
            if child in seen or child == without:
                continue
            seen.add(child)
            pending.append(child)
            process = identify(child)
            if process is not None and is_alive(process):
                found[child] = process
    return list(found.values())


def is_below(pid: int, top: int, *, without: Collection[int] = ()) -> bool:
    """True if a process, which may be a zombie, descends from another, and not by one of those that do not count."""
    while pid > 1 and pid not in without:
        found = status(pid)
        pid = found.parent if found else 0
        if pid == top:
            return True
    return False


def everybody() -> Iterator[int]:
    """Every pid there is."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            yield int(name)


def marked(mark: bytes) -> list[Process]:
    """Processes whose environment holds a mark such as b"GPULAUNCH_RUN_ID=...". A process can wipe it."""
    found = []
    for pid in everybody():
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
                has_mark = mark in file.read().split(b"\0")
        except OSError:
            continue
        process = identify(pid) if has_mark else None
        if process is not None and is_alive(process):
            found.append(process)
    return found


def in_sessions(sessions: Iterable[int]) -> list[Process]:
    """Processes of these sessions."""
    wanted = set(sessions)
    found = []
    for pid in everybody():
        seen = status(pid)
        if seen is not None and seen.session in wanted and seen.alive:
            found.append(Process(pid, seen.start))
    return found


def send(process: Process, number: signal.Signals) -> bool:
    """Signals the very process, never another one that got its pid. False if it is gone."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        found = status(process.pid)
        if found is None or found.start != process.start:
            return False
        signal.pidfd_send_signal(handle, number)
        return True
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(handle)


def command_line(pid: int) -> tuple[str, ...]:
    """A process's words, or its name alone; empty if it is gone. May hold secrets: show it by `naming.command_of`."""
    for path in (f"/proc/{pid}/cmdline", f"/proc/{pid}/comm"):
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return ()
        if text.strip("\0\n"):
            return tuple(text.rstrip("\0\n").split("\0"))
    return ()
