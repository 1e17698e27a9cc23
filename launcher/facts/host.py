"""The machine and who we are on it."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

from launcher.facts.files import is_folder
from launcher.model import Host


def look(environ: Mapping[str, str]) -> Host:
    """Identity comes from the password database; HOME and it are only checked for being usable here."""
    user, home = _account()
    candidates = dict.fromkeys(path for path in (environ.get("HOME"), home) if path and path.startswith("/"))
    return Host(
        system=platform.system(),
        machine=platform.machine(),
        kernel=platform.release(),
        pid1=_first_line("/proc/1/comm"),
        uid=os.getuid(),
        user=user,
        home=home,
        cpus=_cpus(),
        memory=_meminfo("MemTotal"),
        memory_available=_available(),
        wsl="microsoft" in platform.release().lower(),
        usable_homes=tuple(path for path in candidates if _is_usable(path)),
    )


def _account() -> tuple[str | None, str | None]:
    import pwd

    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return None, None
    return entry.pw_name, entry.pw_dir


def _is_usable(home: str) -> bool:
    return is_folder(home) and os.access(home, os.W_OK | os.X_OK)


def _cpus() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _available() -> int | None:
    """MemAvailable, or what our control group may still take where that is less."""
    there = _meminfo("MemAvailable")
    limits = [left for folder in _control_groups() if (left := _left(folder)) is not None]
    return min([there, *limits]) if there is not None else None


def _control_groups() -> list[Path]:
    """Our own group of version 2 and those above it: each may have a limit."""
    line = next((line for line in _lines("/proc/self/cgroup") if line.startswith("0::/")), None)
    if line is None:
        return []
    own = Path("/sys/fs/cgroup", line[4:].lstrip("/"))
    return [folder for folder in (own, *own.parents) if folder.is_relative_to("/sys/fs/cgroup")]


def _left(folder: Path) -> int | None:
    limit, used = (_first_line(str(folder / name)) for name in ("memory.max", "memory.current"))
    return max(int(limit) - int(used), 0) if limit and used and limit.isdigit() and used.isdigit() else None


def _meminfo(name: str) -> int | None:
    line = next((line for line in _lines("/proc/meminfo") if line.startswith(f"{name}:")), None)
    return int(line.split()[1]) * 1024 if line else None


def _first_line(path: str) -> str | None:
    return next(iter(_lines(path)), None)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
