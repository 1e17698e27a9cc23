"""Caches as facts: a module that FlashInfer built, a folder on some disk, a lock."""

from __future__ import annotations

from typing import Any

from launcher.model import CachedBuild, CacheFolder, CacheLock, Caches, Facts
from tests.builders import SYSTEM_13, facts

OURS = "/home/serve/.cache/gpulaunch"
STALE = "/usr/local/cuda"
CHOSEN = "/usr/local/cuda-13.0"


def build(base: str, **changes: Any) -> CachedBuild:
    """By default sampling of FlashInfer 0.6.8, whose build.ninja runs the stale nvcc."""
    home = changes.pop("cuda_home", STALE)
    folder = f"{base}/.cache/flashinfer/0.6.8/120f/cached_ops"
    filled: dict[str, Any] = {
        "module": "sampling",
        "version": "0.6.8",
        "cuda_home": home,
        "compiler": f"{home}/bin/nvcc",
        "compiler_exists": True,
        "built": False,
        **changes,
    }
    return CachedBuild(base=base, folder=f"{folder}/{filled['module']}", **filled)


def disk(path: str = OURS, file_system: str | None = "ext4", *, writable: bool = True) -> CacheFolder:
    """A folder of ours."""
    return CacheFolder(path=path, file_system=file_system, writable=writable)


def lock(below: str, **changes: Any) -> CacheLock:
    """A lock on sampling; by default a living process holds it."""
    filled: dict[str, Any] = {"kind": "held", "module": "sampling", "pid": 4711, "command": "ninja -v", **changes}
    path = f"{below}/.cache/flashinfer/0.6.8/120f/cached_ops/tmp/sampling.lock"
    return CacheLock(path=filled.pop("path", path), below=below, **filled)


def machine(caches: Caches | None = None, **changes: Any) -> Facts:
    """The founding host with a complete 13.0, and these caches."""
    return facts(**{"toolkits": (SYSTEM_13,), "caches": caches or Caches(folders=(disk(),)), **changes})
