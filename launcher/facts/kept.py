"""What our own cache of compiled kernels holds: a root for each toolchain and the shared ones, with size, last use and
those who use it now.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from launcher.caches import SHARED, Kept
from launcher.facts.files import below, is_folder
from launcher.facts.holders import holder_of_flock, users_of


def look(cache: str) -> tuple[Kept, ...]:
    """Every root below our cache folder, by name; the shared ones last."""
    return tuple(_kept(place) for place in _roots(Path(cache, "jit")))


def _roots(top: Path) -> Iterator[Path]:
    def folders(place: Path) -> list[Path]:
        return [path for path in below(place, "*") if is_folder(path) and not os.path.islink(path)]

    yield from (path for path in folders(top) if path.name != SHARED)
    yield from folders(top / SHARED)


def _kept(root: Path) -> Kept:
    size, files, newest = 0, 0, 0.0
    for place in _everything(root):
        try:
            status = place.lstat()
        except OSError:
            continue
        newest = max(newest, status.st_mtime)
        if not is_folder(place):
            files += 1
            size += status.st_blocks * 512
    return Kept(
        name=f"{SHARED}/{root.name}" if root.parent.name == SHARED else root.name,
        path=str(root),
        bytes=size,
        files=files,
        modules=len(below(root, "flashinfer/.cache/flashinfer/*/*/cached_ops/*/*.so")),
        last_used=newest,
        used_by=used_by(root),
    )


def used_by(root: Path) -> tuple[str, ...]:
    """Who has it open, mapped, named in the environment or locked, as phrases."""
    locks = (holder_of_flock(file) for file in below(root, "**/*.lock"))
    holders = (*users_of(root), *(holder for holder in locks if holder))
    return tuple(dict.fromkeys(str(holder) for holder in holders))


def _everything(root: Path) -> Iterator[Path]:
    yield root
    for folder, folders, files in os.walk(root):
        yield from (Path(folder, name) for name in (*folders, *files))
