"""The C++ compilers that nvcc could call: the default g++, and each g++-N beside it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from launcher.facts.asking import ask
from launcher.model import HostCompiler
from launcher.paths import SYSTEM_PATH

_NUMBERED = re.compile(r"g\+\+-([0-9]+)")


def look() -> tuple[HostCompiler, ...]:
    """In the system's directories, each compiler once; the default first, then the newest."""
    found: dict[str, HostCompiler] = {}
    for folder in SYSTEM_PATH:
        for path in _candidates(Path(folder)):
            major = _major(path)
            if major is not None:
                found.setdefault(path.name, HostCompiler(path=str(path), c_path=_of_c(path), major=major))
    default, others = found.pop("g++", None), sorted(found.values(), key=lambda compiler: -compiler.major)
    return (*((default,) if default else ()), *others)


def _candidates(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    wanted = [name for name in names if name == "g++" or _NUMBERED.fullmatch(name)]
    return [folder / name for name in wanted if os.access(folder / name, os.X_OK)]


def _of_c(path: Path) -> str | None:
    beside = path.with_name(path.name.replace("g++", "gcc"))
    return str(beside) if os.access(beside, os.X_OK) else None


def _major(compiler: Path) -> int | None:
    """Asked, not read off its name: an alternative may say otherwise."""
    said = ask([str(compiler), "-dumpversion"])
    match = re.match(r"[0-9]+", said.text)
    return int(match[0]) if match and said.code == 0 else None
