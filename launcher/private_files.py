"""Folders 0700 and files 0600 whatever the umask, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def make_private(folder: Path) -> None:
    """The folder and those above it that are missing, all 0700."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, content: str | bytes) -> None:
    """A 0600 file, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    beside.replace(path)
