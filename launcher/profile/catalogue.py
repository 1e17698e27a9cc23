"""Every profile that can be named, for `gpulaunch profiles`. A broken one is listed with its first problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from launcher.errors import Refused
from launcher.model import Finding
from launcher.paths import Places
from launcher.profile.extends import merged
from launcher.profile.load import ordered, read, understand
from launcher.profile.lookup import Located, label, locate, names, shipped_folder
from launcher.profile.source import read_text


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


class _AnyVariable(Mapping[str, str]):
    """An environment that has every variable: a list is no place to ask for them. "/" suits every key that expands."""

    def __getitem__(self, name: str) -> str:
        return "/"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def list_profiles(places: Places, *, uid: int = -1) -> tuple[Listed, ...]:
    """In lookup order; never fails for a broken file. With `uid` 0, what root is refused counts as a problem."""
    return tuple(_listed(places, uid))


def text_of(reference: str, *, places: Places, cwd: str) -> tuple[Located, str]:
    """A profile's file and its text as it stands. Raises Refused where there is none or it cannot be read."""
    located = locate(reference, places=places, relative_to=cwd)
    return located, read_text(located)


def _listed(places: Places, uid: int) -> Iterator[Listed]:
    first: dict[str, str] = {}
    for name, path in names(places):
        file = label(path)
        engine, description, problem = _glance(Located(path=path, label=file, folder=None, name=name), places, uid)
        yield Listed(
            name=name,
            file=file,
            path=path,
            engine=engine,
            description=description,
            shipped=path.parent == shipped_folder(),
            shadowed_by=first.get(name),
            problem=problem,
        )
        first.setdefault(name, file)


def _glance(located: Located, places: Places, uid: int) -> tuple[str, str, str | None]:
    """Engine, description and first problem."""
    try:
        document = merged(located, read=lambda found: read(found, uid=uid), places=places)
    except Refused as refused:
        return "", "", _first(list(refused.findings))
    understand(document, environ=_AnyVariable(), home="/")
    engine, description = (document.tree.get(key, "") for key in ("engine", "description"))
    problem = _first(ordered(document.errors)) if document.errors else None
    return _word(engine), _word(description), problem


def _first(found: list[Finding]) -> str:
    line = f"line {found[0].line}: " if found[0].line else ""
    return f"{line}{found[0].message}"


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
