"""Installs a small tree of links and files at a path: whole or not at all, again only where it differs.

A manifest inside says what was installed; two launchers at once are kept apart by a lock beside it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from launcher.private_files import make_private

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
    if _is_installed(path, manifest):
        return
    make_private(path.parent)
    with _locked(path):
        if not _is_installed(path, manifest):
            _replace(path, _build(path, tree, manifest))


def _manifest(tree: Tree) -> bytes:
    """The same bytes for the same tree."""
    shown = {
        name: f"-> {entry.to}" if isinstance(entry, Link) else "folder" if entry is None else entry.content.hex()
        for name, entry in sorted(tree.items())
    }
    return json.dumps(shown, indent=0).encode()


def _is_installed(path: Path, manifest: bytes) -> bool:
    try:
        return (path / MANIFEST).read_bytes() == manifest
    except OSError:
        return False


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path.parent / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _build(path: Path, tree: Tree, manifest: bytes) -> Path:
    """The tree in a new folder beside its place."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    new.mkdir(mode=0o700)
    try:
        for name, entry in sorted(tree.items()):
            place = new / name
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if entry is None:
                place.mkdir(mode=0o700, exist_ok=True)
            elif isinstance(entry, Link):
                place.symlink_to(entry.to)
            else:
                place.write_bytes(entry.content)
        (new / MANIFEST).write_bytes(manifest)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return new


def _replace(path: Path, new: Path) -> None:
    """Renames are atomic; a tree that differs is out of its place for a moment only."""
    if not os.path.lexists(path):
        new.rename(path)
        return
    old = path.with_name(f".{path.name}.{secrets.token_hex(4)}.old")
    path.rename(old)
    new.rename(path)
    shutil.rmtree(old, ignore_errors=True)
