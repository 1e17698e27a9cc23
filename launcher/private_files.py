"""Folders 0700 and files 0600 whatever the umask, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def matching(folder: Path, pattern: str) -> tuple[Path, ...]:
    """What is there by this pattern, sorted; nothing where the folder cannot be looked into, or cannot exist.

    pathlib's glob raises where a folder above is closed to us or its name is too long.
    """
    try:
        return tuple(sorted(folder.glob(pattern)))
    except OSError:
        return ()


def make_private(folder: Path) -> None:
    """The folder and those above it that are missing, all 0700. The umask can only take away: the mode is set again."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        try:
            place.mkdir(mode=0o700)
        except FileExistsError:
            continue
        place.chmod(0o700)


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a 0600 file, which is made where it is missing."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    return descriptor


def write_private(path: Path, content: str | bytes) -> None:
    """A 0600 file, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(open_private(beside, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            file.write(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
