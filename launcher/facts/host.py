"""The machine and who we are on it."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

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
        memory=_memory(),
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
    return Path(home).is_dir() and os.access(home, os.W_OK | os.X_OK)


def _cpus() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _memory() -> int | None:
    line = next((line for line in _lines("/proc/meminfo") if line.startswith("MemTotal:")), None)
    return int(line.split()[1]) * 1024 if line else None


def _first_line(path: str) -> str | None:
    return next(iter(_lines(path)), None)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
