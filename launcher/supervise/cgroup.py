"""A cgroup of our own for the server, where one can be made: then stopping it is complete by construction.

Only version 2 (`cgroup.kill`, Linux 5.14), also beside version 1 in a hybrid hierarchy. Below a manager such as systemd
only where it delegated: a unit without Delegate= belongs to systemd, which marks a delegated one in an attribute.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_ROOTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
_DELEGATED = ("trusted.delegate", "user.delegate")


def make(run_id: str) -> Path | None:
    """A new empty cgroup below our own, or None where none can or may be made."""
    own = _own()
    if own is None or hindrance() is not None:
        return None
    folder = own / f"gpulaunch-{run_id}"
    try:
        folder.mkdir(mode=0o755)
    except OSError:
        return None
    if (folder / "cgroup.kill").exists() and os.access(folder / "cgroup.procs", os.W_OK):
        return folder
    remove(folder)
    return None


def hindrance() -> str | None:
    """Why none can or may be made here, or None."""
    own = _own()
    if own is None:
        return "no cgroup v2 hierarchy is mounted"
    if not (own / "cgroup.kill").exists() and own not in _ROOTS:
        return "this kernel has no cgroup.kill (Linux 5.14)"
    if not os.access(own / "cgroup.procs", os.W_OK):  # whoever moves a process must be allowed to write to both places
        return f"this user may not write to {own}"
    if Path("/run/systemd/system").is_dir() and not _is_delegated(own):
        return f"systemd has not delegated {own} (Delegate=)"
    return None


def members(folder: Path) -> list[int]:
    """The pids in a cgroup and in those below it."""
    found = []
    for procs in (folder / "cgroup.procs", *folder.glob("**/cgroup.procs")):
        with contextlib.suppress(OSError, ValueError):
            found += [int(pid) for pid in procs.read_text().split()]
    return found


def kill(folder: Path) -> None:
    """SIGKILL to everything in it, at once."""
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")


def remove(folder: Path) -> None:
    """Removes an empty one, with empty ones below it that the server made."""
    for below in sorted(folder.glob("**/"), reverse=True):
        with contextlib.suppress(OSError):
            below.rmdir()


def _own() -> Path | None:
    """The folder of our own cgroup in the version 2 hierarchy."""
    root = next(
        (root for root in _ROOTS if (root / "cgroup.procs").exists() and (root / "cgroup.controllers").exists()), None
    )
    if root is None:
        return None
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    path = next((line[3:] for line in lines if line.startswith("0::")), None)
    return root / path.lstrip("/") if path is not None else None


def _is_delegated(folder: Path) -> bool:
    for place in (folder, *folder.parents):
        for name in _DELEGATED:
            with contextlib.suppress(OSError):
                if os.getxattr(place, name) == b"1":
                    return True
    return False
