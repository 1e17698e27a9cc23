"""Entries of the caller's LD_LIBRARY_PATH that hold the driver's own libraries: a container has them nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_OF_THE_DRIVER = ("libcuda.so.1", "libnvidia-ml.so.1")
# A toolkit's compat folder holds a libcuda too: another one than the kernel's driver (vllm-project/vllm#34821).
_NOT_THE_DRIVERS = ("compat", "stubs")


def look(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Absolute entries with a driver library in them, in order, without toolkits' compat and stubs folders."""
    entries = dict.fromkeys(environ.get("LD_LIBRARY_PATH", "").split(":"))
    return tuple(entry for entry in entries if entry.startswith("/") and _is_mount(Path(entry)))


def _is_mount(folder: Path) -> bool:
    if folder.name in _NOT_THE_DRIVERS:
        return False
    try:
        return any((folder / name).exists() for name in _OF_THE_DRIVER)
    except OSError:
        return False
