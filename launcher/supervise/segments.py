"""Which segments in /dev/shm a run's processes were seen to map, kept in the run's folder.

A crash leaves segments behind (llm-d/llm-d#352), and their names say nothing of whose they were: `nccl-4fJq2x`,
`psm_a1b2c3d4`, `sem.mp-...`. Only what was seen while its makers lived proves it later. The inode is kept with the
name: a file of the same name that somebody made since is another one.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from launcher.runs import Run
from launcher.supervise.processes import Process

FOLDER = "/dev/shm"
_FIRST, _LONGEST = 1.0, 15.0  # seconds between looks: engines make theirs while they load
_MAPPED = re.compile(rb"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ (\d+) +(/dev/shm/[^\n]*)$", re.MULTILINE)
_GONE = " (deleted)"


class Segment(NamedTuple):
    """A file in /dev/shm."""

    path: str
    inode: int


class Ledger:
    """Looks now and then, in a thread of its own, and writes down what is new: none of what was there before."""

    def __init__(self, run: Run, members: Callable[[], Iterable[Process]]) -> None:
        """Call it before the server is started. `members` is called in the thread."""
        self._run = run
        self._members = members
        self._stopped = threading.Event()
        self._before = set(present())
        if run.folder is not None:
            threading.Thread(target=self._watch, name="segments", daemon=True).start()

    def stop(self) -> None:
        """No more looks."""
        self._stopped.set()

    def _watch(self) -> None:
        seen: set[Segment] = set()
        pause = _FIRST
        while not self._stopped.wait(pause):
            new = {segment for process in self._members() for segment in mapped(process.pid)} - seen - self._before
            if new:
                seen |= new
                self._run.record_segments(sorted(seen))
            pause = min(pause * 2, _LONGEST)


def present(folder: str = FOLDER) -> dict[Segment, os.stat_result]:
    """Every file there now."""
    found = {}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    found[Segment(entry.path, status.st_ino)] = status
    return found


def mapped(pid: int) -> set[Segment]:
    """What a process maps of /dev/shm; nothing of one that may not be looked at."""
    try:
        return parse(Path(f"/proc/{pid}/maps").read_bytes())
    except OSError:
        return set()


def parse(maps: bytes) -> set[Segment]:
    """/proc/PID/maps to segments that still have a name. Pure."""
    found = ((os.fsdecode(path), int(inode)) for inode, path in _MAPPED.findall(maps))
    return {Segment(path, inode) for path, inode in found if not path.endswith(_GONE)}


def opened(pid: int) -> set[Segment]:
    """What a process has open there without mapping it."""
    found = set()
    try:
        with os.scandir(f"/proc/{pid}/fd") as descriptors:
            for entry in descriptors:
                target = os.readlink(entry.path)
                if target.startswith(f"{FOLDER}/") and not target.endswith(_GONE):
                    found.add(Segment(target, os.stat(entry.path).st_ino))
    except OSError:
        return found
    return found
