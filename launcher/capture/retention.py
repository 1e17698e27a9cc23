"""How much the logs of a profile's runs may take in all, and how long they are kept.

Only logs are removed, the oldest run's first; plans and outcomes are small and stay. The current run and any other
whose processes may live lose nothing.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

from launcher.model import Logging
from launcher.runs import LOG


@dataclass(frozen=True)
class Kept:
    """The logs of one run: bytes in all, and when the last was written (seconds since the epoch)."""

    folder: Path
    size: int
    written: float
    over: bool  # the run has ended


def surplus(runs: tuple[Kept, ...], current: Path, options: Logging, now: float) -> tuple[Kept, ...]:
    """The runs whose logs have to go. `runs` in any order. Pure."""
    old = [run for run in sorted(runs, key=lambda run: run.written) if run.over and run.folder != current]
    gone = [run for run in old if options.age and now - run.written > options.age]
    size = sum(run.size for run in runs) - sum(run.size for run in gone)
    for run in old:
        if options.total and size > options.total and run not in gone:
            gone.append(run)
            size -= run.size
    return tuple(gone)


def make_room(current: Path, options: Logging, now: float) -> None:
    """Removes what is too old or too much beside the current run's folder. What cannot be removed stays."""
    if not options.total and not options.age:
        return
    with contextlib.suppress(OSError):
        folders = [entry for entry in current.parent.iterdir() if entry.is_dir() and not entry.is_symlink()]
        runs = tuple(kept for folder in folders if (kept := _kept(folder)) is not None)
        for run in surplus(runs, current, options, now):
            for log in run.folder.glob(f"{LOG}*"):
                log.unlink(missing_ok=True)


def _kept(folder: Path) -> Kept | None:
    looks = [log.stat() for log in folder.glob(f"{LOG}*")]
    if not looks:
        return None
    return Kept(folder, sum(look.st_size for look in looks), max(look.st_mtime for look in looks), _is_over(folder))


def _is_over(folder: Path) -> bool:
    """True if it has an outcome, or none of the processes that its folder names lives."""
    if (folder / "outcome.json").exists():
        return True
    try:
        document = json.loads((folder / "processes.json").read_text(encoding="utf-8"))
        named = [document["supervisor"], document["leader"], *document["processes"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False  # could not tell
    return not any(entry and _lives(int(entry[0]), int(entry[1])) for entry in named)


def _lives(pid: int, started: int) -> bool:
    """True if this very process is there; `started` in clock ticks after boot, field 22 of /proc/PID/stat, proc(5)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()
    except OSError:
        return False
    return int(fields[19]) == started
