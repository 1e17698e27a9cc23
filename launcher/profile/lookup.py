"""Finds a profile by name or path, and the files that came with us. Reads folders, never the working one.

A profile runs commands, so a stranger's folder must not be able to answer to a name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from launcher import findings
from launcher.errors import Refused
from launcher.model import Finding
from launcher.paths import Places

SHIPPED = "shipped"


@dataclass(frozen=True)
class Located:
    """A profile file. `label` is how it is named to people; `folder` is set for one that was given by path."""

    path: Path
    label: str
    folder: str | None
    findings: tuple[Finding, ...] = ()


def is_path(reference: str) -> bool:
    """A reference is a path if it holds a slash or ends in .yaml or .yml; else a name."""
    return "/" in reference or reference.endswith((".yaml", ".yml"))


def shipped_folder(kind: str = "profiles") -> Path:
    """The profiles (or the schema) that came with us: inside the wheel, or at the top of a source checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / SHIPPED / kind
    return inside if inside.is_dir() else package.parent / kind


def folders(places: Places) -> tuple[Path, ...]:
    """Where names are looked up, in order; the shipped ones last."""
    return (*(Path(folder) for folder in places.profiles), shipped_folder())


def locate(reference: str, *, places: Places, relative_to: str) -> Located:
    """The file of a reference. Raises Refused (78) with the nearest name and the list."""
    if is_path(reference):
        path = Path(relative_to, Path(reference).expanduser())
        return Located(path=path, label=reference, folder=str(path.parent))
    found = [folder / f"{reference}.yaml" for folder in folders(places) if _is_file(folder / f"{reference}.yaml")]
    if not found:
        raise Refused([_unknown(reference, places)])
    shadowed = tuple(
        findings.note("profile-shadowed", f"{found[0]} answers to {reference}; {other} has the same name.")
        for other in found[1:]
    )
    return Located(path=found[0], label=label(found[0]), folder=None, findings=shadowed)


def label(path: Path) -> str:
    """A shipped profile is named alike on every machine."""
    return f"{SHIPPED}/{path.name}" if path.parent == shipped_folder() else str(path)


def names(places: Places) -> Iterator[tuple[str, Path]]:
    """Every name with its file, in lookup order; a name may come several times."""
    for folder in folders(places):
        try:
            files = sorted(folder.glob("*.yaml"))
        except OSError:
            continue
        yield from ((file.stem, file) for file in files)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _unknown(reference: str, places: Places) -> Finding:
    known = sorted({name for name, _ in names(places)})
    near = difflib.get_close_matches(reference, known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return findings.error(
        "profile-not-found",
        f"There is no profile named {reference}.",
        fix=f"{hint}Known: {', '.join(known)}. A path must hold a slash or end in .yaml.",
    )
