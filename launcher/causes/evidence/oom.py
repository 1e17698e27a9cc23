"""The kernel's own counters of processes that it ended for want of memory: looked at before and after a run.

Version 2 counts in memory.events, a parent for all below it; version 1 in memory.oom_control. Exit 137 alone says
nothing: SGLang kills itself with the same signal when a scheduler fails (sglang 0.5.23 `kill_process_tree`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from launcher.causes.kernel_words import oom_kills_v1, oom_kills_v2

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")

Counters = dict[Path, int]  # file -> processes ended


def files(own: str, *, root: Path = ROOT, run: Path | None = None) -> Iterator[Path]:
    """Where to look: the run's own cgroup, then ours in each hierarchy. `own` is the text of /proc/self/cgroup."""
    if run is not None:
        yield run / "memory.events"
    for line in own.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0":
            for hierarchy in (root, root / "unified"):
                yield hierarchy / path.lstrip("/") / "memory.events"
        elif "memory" in controllers.split(","):
            # Within a container the path is the host's, and the mount begins at our own.
            yield root / "memory" / path.lstrip("/") / "memory.oom_control"
            yield root / "memory" / "memory.oom_control"


def snapshot(run: Path | None = None) -> Counters:
    """The counters now. Empty: none can be read."""
    try:
        own = OWN.read_text(encoding="utf-8")
    except OSError:
        own = ""
    return read(files(own, run=run))


def read(paths: Iterable[Path]) -> Counters:
    """The counters that these files hold."""
    found: Counters = {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        count = oom_kills_v1(text) if path.name == "memory.oom_control" else oom_kills_v2(text)
        if count is not None:
            found[path] = count
    return found


def grown(before: Counters, after: Counters) -> int | None:
    """How many processes were ended meanwhile; None: could not tell."""
    both = before.keys() & after.keys()
    return max(after[path] - before[path] for path in both) if both else None


def since(before: Counters) -> int | None:
    """How many processes were ended since then, by the same files; None: could not tell. Ask before the run's cgroup
    is removed.
    """
    return grown(before, read(before))
