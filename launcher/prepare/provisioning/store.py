"""The toolkits that we made: which there are, and the lock under which they are made and removed.

A folder without a manifest is none: the manifest is written last.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from launcher import __version__
from launcher.pinned_wheels import FOLDER, MANIFEST
from launcher.private_files import open_private, write_private

UNFINISHED = ".unfinished-"


@dataclass(frozen=True)
class Provisioned:
    """One toolkit of ours. `bytes` on disk."""

    root: str
    release: str
    machine: str
    wheels: Mapping[str, str]
    bytes: int


def toolkits(data: str) -> tuple[Provisioned, ...]:
    """Every finished one, by release."""
    try:
        found = [read(path) for path in sorted(Path(data, FOLDER).iterdir())]
    except OSError:  # there is none, or none that this user could reach
        return ()
    return tuple(toolkit for toolkit in found if toolkit is not None)


def read(root: Path) -> Provisioned | None:
    """The toolkit at a place; None where none is finished."""
    try:
        said = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
        return Provisioned(str(root), said["release"], said["machine"], said["wheels"], _size(root))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(root: Path, release: str, machine: str, wheels: Mapping[str, str]) -> None:
    """Makes it a finished one."""
    said = {"release": release, "machine": machine, "wheels": dict(wheels), "made_by": f"gpulaunch {__version__}"}
    write_private(root / MANIFEST, json.dumps(said, indent=2) + "\n")


def remove(root: Path) -> None:
    """Takes its manifest away first: from then on it is none."""
    with locked(root.parent):
        (root / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(root, ignore_errors=True)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Two at once take turns."""
    descriptor = open_private(folder / ".lock", os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """Removes what an interrupted one left; the lock is ours."""
    for place in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(place, ignore_errors=True)


def _size(root: Path) -> int:
    return sum(path.lstat().st_size for path in root.rglob("*") if not path.is_symlink() and path.is_file())
