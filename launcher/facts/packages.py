"""Which distributions are installed, from the names of their metadata folders: nothing is imported or run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_METADATA = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)(?:-py[0-9.]+)?\.(?:dist|egg)-info")


def parse(folder: str) -> tuple[str, str] | None:
    """`flashinfer_python-0.6.8.dist-info` to ("flashinfer-python", "0.6.8"); None for anything else. Pure."""
    match = _METADATA.fullmatch(folder)
    return (normalised(match["name"]), match["version"]) if match else None


def normalised(name: str) -> str:
    """The name as PEP 503 spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(sites: Iterable[Path]) -> dict[str, str]:
    """Distributions and versions; of two of a name the first folder's wins, as in an import."""
    found: dict[str, str] = {}
    for site in sites:
        for name, version in _in(site):
            found.setdefault(name, version)
    return dict(sorted(found.items()))


def _in(site: Path) -> Iterator[tuple[str, str]]:
    try:
        with os.scandir(site) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return
    for name in names:
        parsed = parse(name)
        if parsed:
            yield parsed
