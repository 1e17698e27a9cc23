"""Installs a small tree of links and files at a path: whole or not at all, again only where it differs.

A manifest inside says what was installed; two launchers at once are kept apart by a lock beside it. A tree that
differs changes places with its successor in one step: a build may be running in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from launcher.private_files import make_private, open_private, write_private

MANIFEST = ".gpulaunch-manifest.json"


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    to: str


@dataclass(frozen=True)
class File:
    """A file with its bytes."""

    content: bytes


Tree = Mapping[str, Link | File | None]  # relative path -> what stands there; None: a folder


def install(path: Path, tree: Tree) -> None:
    """Makes `path` hold exactly this tree."""
    manifest = _manifest(tree)
    if _is_installed(path, tree, manifest):
        return
    make_private(path.parent)
    with _locked(path):
        if not _is_installed(path, tree, manifest):
            _sweep(path)
            _replace(path, _build(path, tree, manifest))


def _manifest(tree: Tree) -> bytes:
    """The same bytes for the same tree."""
    shown = {
        name: f"-> {entry.to}" if isinstance(entry, Link) else "folder" if entry is None else entry.content.hex()
        for name, entry in sorted(tree.items())
    }
    return json.dumps(shown, indent=0).encode()


def _is_installed(path: Path, tree: Tree, manifest: bytes) -> bool:
    """The manifest alone does not tell what somebody took away since."""
    try:
        there = (path / MANIFEST).read_bytes() == manifest
    except OSError:
        return False
    return there and all(os.path.lexists(f"{path}/{name}") for name in tree)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = open_private(path.parent / ".lock", os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _build(path: Path, tree: Tree, manifest: bytes) -> Path:
    """The tree in a new folder beside its place."""
    new = path.with_name(f"{_beside(path)}{secrets.token_hex(4)}")
    make_private(new)
    try:
        for folder in {new / name if entry is None else (new / name).parent for name, entry in tree.items()}:
            make_private(folder)
        for name, entry in tree.items():
            place = new / name
            if isinstance(entry, Link):
                place.symlink_to(entry.to)
            elif isinstance(entry, File):
                write_private(place, entry.content)
        write_private(new / MANIFEST, manifest)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return new


def _replace(path: Path, new: Path) -> None:
    """In one step, also where something stands there; what stood there is removed."""
    if not os.path.lexists(path):
        new.rename(path)
        return
    if not _exchange(path, new):
        # A file system that cannot: the place is empty for a moment.
        old = path.with_name(f"{_beside(path)}{secrets.token_hex(4)}")
        path.rename(old)
        new.rename(path)
        new = old
    _remove(new)


def _exchange(one: Path, other: Path) -> bool:
    """renameat2(2) with RENAME_EXCHANGE; False where C library, kernel or file system does not know it."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except AttributeError:
        return False
    here, exchange = -100, 2
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def _sweep(path: Path) -> None:
    """Removes what a launcher that was killed left beside the place; the lock is ours."""
    for place in path.parent.glob(f"{glob.escape(_beside(path))}*"):
        _remove(place)


def _beside(path: Path) -> str:
    return f".{path.name}~"


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
