"""What lies in the caches of compiled kernels, and what may go wrong there: the kind of disk, FlashInfer's builds with
the compiler that each runs, and locks with their holders. Nothing is run and nothing written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from launcher.caches import VARIABLES
from launcher.facts.elf import needed
from launcher.facts.files import below, is_folder, is_there
from launcher.facts.holders import holder_of_flock, process_with_open_file
from launcher.model import CachedBuild, CacheFolder, CacheLock, Caches
from launcher.paths import Places
from launcher.profile.asked import Asked

WORKSPACE, EXTENSIONS = "FLASHINFER_WORKSPACE_BASE", "TORCH_EXTENSIONS_DIR"
_MOST = 2000  # modules that are looked at
_HEAD = 2048  # bytes of a build.ninja; the variables stand in its first lines


@dataclass(frozen=True)
class Wanted:
    """Which folders count: ours, the libraries' own below the home folder, and those that somebody named."""

    cache: str
    home: str | None
    named: Mapping[str, tuple[str, ...]]  # variable -> folders

    def workspaces(self) -> Iterator[str]:
        """What FLASHINFER_WORKSPACE_BASE may say in the end, the default last."""
        yield from self.named.get(WORKSPACE, ())
        yield from (str(place) for place in below(Path(self.cache, "jit"), "*/flashinfer"))
        if self.home:
            yield self.home

    def extensions(self) -> Iterator[str]:
        """Where torch's extensions may lie."""
        yield from self.named.get(EXTENSIONS, ())
        yield from (str(place) for place in below(Path(self.cache, "jit"), "*/torch-extensions"))
        if self.home:
            yield from (str(place) for place in below(Path(self.home, ".cache/torch_extensions"), "*"))


def look(asked: Asked | None, environ: Mapping[str, str], places: Places) -> Caches:
    """Everything that checks of caches ask for."""
    said = [environ, dict(asked.profile.env.set) if asked else {}]
    named = {
        name: tuple(dict.fromkeys(there[name] for there in said if there.get(name, "").startswith("/")))
        for name in VARIABLES
    }
    wanted = Wanted(places.cache, places.home, named)
    workspaces = tuple(dict.fromkeys(wanted.workspaces()))
    folders = (places.cache, *(folder for found in named.values() for folder in found))
    mounts = parse_mounts(_read(Path("/proc/self/mountinfo")))
    return Caches(
        folders=tuple(_folder(path, mounts) for path in dict.fromkeys(folders)),
        builds=tuple(islice((build for base in workspaces for build in builds(Path(base))), _MOST)),
        locks=(*_flocks(workspaces), *_batons(dict.fromkeys(wanted.extensions()))),
    )


# --------------------------------------------------------------------------------------------------------------------
# The disk


def parse_mounts(mountinfo: str) -> dict[str, str]:
    """Mount point to the type of its file system, a later mount over an earlier one. Pure."""
    found: dict[str, str] = {}
    for line in mountinfo.splitlines():
        fields = line.split(" ")
        if "-" in fields[6:-1]:
            # The kernel writes a space in a name as \\040.
            place = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
            found[place] = fields[fields.index("-", 6) + 1]
    return found


def _folder(path: str, mounts: Mapping[str, str]) -> CacheFolder:
    there = _nearest(Path(path))
    real = Path(os.path.realpath(there))
    mount = next((str(place) for place in (real, *real.parents) if str(place) in mounts), None)
    return CacheFolder(
        path=path,
        file_system=mounts[mount] if mount else None,
        writable=is_folder(there) and os.access(there, os.W_OK | os.X_OK),
    )


def _nearest(path: Path) -> Path:
    """The path, or the first above it that exists."""
    return next((place for place in (path, *path.parents) if os.path.exists(place)), Path("/"))


# --------------------------------------------------------------------------------------------------------------------
# FlashInfer's builds


def builds(base: Path) -> Iterator[CachedBuild]:
    """Every module with a build.ninja: VERSION/ARCHITECTURES/cached_ops/MODULE below the base; up to 0.4.0 without the
    version, and without the architectures where FlashInfer knows none.
    """
    top = base / ".cache/flashinfer"
    for pattern in ("*/*/cached_ops/*/build.ninja", "*/cached_ops/*/build.ninja"):
        for file in below(top, pattern):
            said = parse_ninja(_read(file, _HEAD))
            home = said.get("cuda_home")
            compiler = said.get("nvcc", "$cuda_home/bin/nvcc").replace("$cuda_home", home or "")
            library = file.with_name(f"{file.parent.name}.so")
            yield CachedBuild(
                base=str(base),
                folder=str(file.parent),
                module=file.parent.name,
                version=file.relative_to(top).parts[0],
                cuda_home=home,
                compiler=compiler,
                compiler_exists=os.path.exists(compiler),
                built=is_there(library),
                needs=tuple(name for name in needed(library) if name.startswith("libcudart.so.")),
            )


def parse_ninja(text: str) -> dict[str, str]:
    """The plain variables at the beginning of a build.ninja. Pure."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.partition(" = ")
        if equals and name.isidentifier():
            found.setdefault(name, value.strip())
    return found


# --------------------------------------------------------------------------------------------------------------------
# Locks


def _flocks(bases: Iterable[str]) -> Iterator[CacheLock]:
    """FlashInfer's: the file stays, the lock on it counts (filelock, flock(2))."""
    for base in bases:
        top = Path(base, ".cache/flashinfer")
        for pattern in ("*/*/cached_ops/tmp/*.lock", "*/cached_ops/tmp/*.lock"):
            for file in below(top, pattern, _MOST):
                holder = holder_of_flock(file)
                if holder is not None:
                    yield CacheLock(
                        path=str(file),
                        below=base,
                        kind="held",
                        module=file.stem,
                        pid=holder.pid,
                        command=holder.command,
                    )


def _batons(folders: Iterable[str]) -> Iterator[CacheLock]:
    """torch's: the file itself is the lock, and its maker has it open until it removes it (utils/file_baton.py)."""
    for folder in folders:
        for file in below(Path(folder), "*/lock", _MOST):
            holder = process_with_open_file(file)
            yield CacheLock(
                path=str(file),
                below=folder,
                kind="held" if holder else "left",
                module=file.parent.name,
                pid=holder.pid if holder else None,
                command=holder.command if holder else None,
            )


def _read(path: Path, most: int = -1) -> str:
    try:
        with path.open("rb") as file:
            return file.read(most).decode("utf-8", "replace")
    except OSError:
        return ""
