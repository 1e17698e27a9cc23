"""LD_LIBRARY_PATH without what shadows the wheels' own libraries. Pure.

Libraries of the nvidia wheels carry RUNPATH, which loses to LD_LIBRARY_PATH: a toolkit's folder there loads another
cuDNN or nvJitLink beside torch (pytorch/pytorch#134929). The driver's own mounts must stay: without them a container
has no libcuda.
"""

from __future__ import annotations

from collections.abc import Iterable

from launcher.situation import Situation


def driver_mounts(situation: Situation) -> str:
    """What remains of the caller's value by itself: the folders with the driver's libraries."""
    return ":".join(situation.facts.driver_mounts)


def without_toolkits(value: str, situation: Situation) -> tuple[str, tuple[str, ...]]:
    """A value that was asked for, less toolkit, compat, stubs, empty and relative entries; and those entries."""
    roots = tuple(toolkit.root for toolkit in situation.facts.toolkits) + ("/usr/local/cuda",)
    entries = value.split(":")
    out = tuple(entry for entry in entries if _shadows(entry, roots))
    return ":".join(entry for entry in entries if entry not in out), out


def _shadows(entry: str, roots: Iterable[str]) -> bool:
    if not entry.startswith("/"):
        return True
    if entry.rstrip("/").rsplit("/", 1)[-1] in ("compat", "stubs"):
        return True
    return any(entry == root or entry.startswith((f"{root}/", f"{root}-")) for root in roots)
