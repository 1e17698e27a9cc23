"""Finds a profile by name or path, and the files that came with us. Reads folders, never the working one.

A profile runs commands, so a stranger's folder must not be able to answer to a name.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from launcher import findings
from launcher.errors import Refused
from launcher.model import Finding, Where
from launcher.paths import Places
from launcher.profile.document import short, shown

SHIPPED = "shipped"


@dataclass(frozen=True)
class Located:
    """A profile file. `label` is how it is named to people. `folder` is set for one that was given by path, `name`
    for one that was given by name.
    """

    path: Path
    label: str
    folder: str | None
    name: str | None = None
    findings: tuple[Finding, ...] = ()


def is_path(reference: str) -> bool:
    """A reference is a path if it holds a slash or ends in .yaml or .yml; else a name."""
    return "/" in reference or reference.endswith((".yaml", ".yml"))


def shipped_folder(kind: str = "profiles") -> Path:
    """The profiles (or the schema) that came with us: inside the wheel, or at the top of a source checkout."""
    return shipped_with(Path(__file__).resolve().parent.parent, kind)


def shipped_with(package: Path, kind: str) -> Path:
    """What came with a package folder."""
    inside, beside = package / SHIPPED / kind, package.parent / kind
    # An editable install runs from the checkout. Without its pyproject.toml, `beside` would be a stranger's folder.
    return beside if not inside.is_dir() and (package.parent / "pyproject.toml").is_file() else inside


def folders(places: Places) -> tuple[Path, ...]:
    """Where names are looked up, in order; the shipped ones last."""
    return (*(Path(folder) for folder in places.profiles), shipped_folder())


def locate(reference: str, *, places: Places, relative_to: str, beside: str = "") -> Located:
    """The file of a reference. Raises Refused (78) with the nearest name and the list.

    `relative_to` is the absolute folder that a relative path starts from; `beside` is how that folder is named to
    people, empty for the working folder.
    """
    if is_path(reference):
        path = Path(relative_to, _at_home(reference, places))
        named = reference
        if beside and not reference.startswith(("/", "~/")):
            named = posixpath.normpath(posixpath.join(beside, reference))
        return Located(path=path, label=shown(named), folder=str(path.parent))
    found = [folder / f"{reference}.yaml" for folder in folders(places) if _is_file(folder / f"{reference}.yaml")]
    if not found:
        raise Refused([unknown(reference, places)])
    shadowed = tuple(
        findings.note(
            "profile-shadowed",
            f"Two profiles are named {reference}: {label(found[0])} is used, {label(other)} is not.",
            fix="Rename one of them, or name the other by its path.",
            where=Where(label(found[0]), None),
        )
        for other in found[1:]
    )
    return Located(path=found[0], label=label(found[0]), folder=None, name=reference, findings=shadowed)


def identity(path: Path) -> Path:
    """The file itself, behind symlinks; the path as it is where that cannot be told."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path


def label(path: Path) -> str:
    """A shipped profile is named alike on every machine."""
    return f"{SHIPPED}/{path.name}" if path.parent == shipped_folder() else str(path)


def names(places: Places) -> Iterator[tuple[str, Path]]:
    """Every name with its file, in lookup order; a name may come several times."""
    for folder in folders(places):
        try:
            files = sorted(file for file in folder.glob("*.yaml") if not file.name.startswith("."))
        except OSError:
            continue
        yield from ((file.stem, file) for file in files if _is_file(file))


def unknown(reference: str, places: Places) -> Finding:
    """There is no such name: the nearest, and all of them."""
    known = sorted({name for name, _ in names(places)})
    near = difflib.get_close_matches(reference.lower(), known, n=1) or [name for name in known if reference in name]
    hint = f"Did you mean {near[0]}? " if near else ""
    other = [folder / f"{reference}.yml" for folder in folders(places) if _is_file(folder / f"{reference}.yml")]
    hint = f"{other[0]} must end in .yaml to be found. " if other else hint
    return findings.error(
        "profile-not-found",
        f"There is no profile named {short(shown(reference))}.",
        fix=shown(f"{hint}Known: {', '.join(known) or 'none'}. A path holds a slash or ends in .yaml."),
    )


def _at_home(reference: str, places: Places) -> str:
    """A leading ~ is the home folder that everything else goes by."""
    return f"{places.home}{reference[1:]}" if reference.startswith("~/") and places.home else reference


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
