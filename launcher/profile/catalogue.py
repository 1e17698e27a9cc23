"""Every profile that can be named, for `gpulaunch profiles`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launcher.paths import Places
from launcher.profile import document
from launcher.profile.lookup import SHIPPED, label, names


@dataclass(frozen=True)
class Listed:
    """One profile file. `problem` is its first one, if it is broken; `shadowed_by` the file that answers instead."""

    name: str
    file: str
    path: Path
    engine: str
    description: str
    shipped: bool
    shadowed_by: str | None = None
    problem: str | None = None


def list_profiles(places: Places) -> tuple[Listed, ...]:
    """In lookup order; never fails for a broken file."""
    return tuple(_listed(places))


def _listed(places: Places) -> Iterator[Listed]:
    first: dict[str, str] = {}
    for name, path in names(places):
        file = label(path)
        tree, problem = _glance(path, file)
        yield Listed(
            name=name,
            file=file,
            path=path,
            engine=str(tree.get("engine", "")),
            description=str(tree.get("description", "")),
            shipped=file.startswith(f"{SHIPPED}/"),
            shadowed_by=first.get(name),
            problem=problem,
        )
        first.setdefault(name, file)


def _glance(path: Path, file: str) -> tuple[dict[str, Any], str | None]:
    try:
        parsed = document.parse(path.read_text(encoding="utf-8"), file)
    except (OSError, UnicodeDecodeError) as error:
        return {}, f"cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}"
    return parsed.tree, parsed.findings[0].message if parsed.findings else None
