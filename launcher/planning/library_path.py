"""LD_LIBRARY_PATH, entry by entry: what may stay beside the wheels' own libraries, and why another may not. Pure.

Libraries of the nvidia wheels carry RUNPATH, which loses to LD_LIBRARY_PATH: a toolkit's folder there loads another
cuDNN or nvJitLink beside torch (pytorch/pytorch#134929). The driver's own mounts must stay: without them a container
has no libcuda.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from launcher.model import LibraryFolder
from launcher.situation import Situation

WSL = "/usr/lib/wsl/lib"
HPC_SDK = "/opt/nvidia/hpc_sdk/"
_DRIVERS_OWN = ("libcuda.so", "libnvidia-ml.so", "libnvidia-ptxjitcompiler.so")


@dataclass(frozen=True)
class Entry:
    """One entry; `out` says as a phrase why it may not stay, None: it may."""

    path: str
    out: str | None


def entries(value: str, situation: Situation) -> tuple[Entry, ...]:
    """Each entry of a value, once, with what speaks against it."""
    seen = {folder.path: folder for folder in situation.facts.library_folders}
    return tuple(Entry(path, _objection(path, situation, seen)) for path in dict.fromkeys(value.split(":")))


def driver_mounts(situation: Situation) -> str:
    """What remains of the caller's value by itself: the folders with the driver's libraries."""
    return ":".join(situation.facts.driver_mounts)


def without_toolkits(value: str, situation: Situation) -> tuple[str, tuple[Entry, ...]]:
    """A value that was asked for, less what would shadow; and the entries that were left out."""
    every = entries(value, situation)
    return ":".join(entry.path for entry in every if entry.out is None), tuple(e for e in every if e.out is not None)


def told(value: str, situation: Situation) -> str:
    """Every entry that does not stay, with its reason."""
    mounts = situation.facts.driver_mounts
    left = (entry for entry in entries(value, situation) if entry.path not in mounts)
    return "; ".join(
        f"{entry.path or 'an empty entry'} {entry.out or 'is not the driver`s'}".replace("`", "'") for entry in left
    )


def _objection(path: str, situation: Situation, seen: Mapping[str, LibraryFolder]) -> str | None:
    return next(_objections(path, situation, seen.get(path)), None)


def _objections(path: str, situation: Situation, folder: LibraryFolder | None) -> Iterator[str]:
    if not path:
        yield "means the working folder"
    elif not path.startswith("/"):
        yield "is relative"
    elif path.rstrip("/").rsplit("/", 1)[-1] in ("compat", "stubs"):
        yield "holds another libcuda than the kernel's driver"
    if path.rstrip("/") == WSL or path in situation.facts.driver_mounts:
        return
    if path.startswith(HPC_SDK):
        yield "is the HPC SDK's (jax-ml/jax#30050)"
    root = next((root for root in _roots(situation) if path == root or path.startswith((f"{root}/", f"{root}-"))), None)
    if root:
        yield f"belongs to the toolkit {root}"
    both = _shared(folder, situation)
    if both:
        yield f"holds {', '.join(both)}, which the target's wheels carry too"


def _roots(situation: Situation) -> tuple[str, ...]:
    """Of toolkits that have a folder of their own: /usr and a conda prefix hold more than CUDA."""
    own = (toolkit.root for toolkit in situation.facts.toolkits if toolkit.kind in ("real", "provisioned"))
    return (*own, "/usr/local/cuda")


def _shared(folder: LibraryFolder | None, situation: Situation) -> tuple[str, ...]:
    """Libraries that would be loaded from here in place of the wheels', by their name without the version."""
    if folder is None or situation.target is None:
        return ()
    carried = {_plain(name) for name in situation.target.libraries}
    there = {_plain(name) for name in folder.libraries if not name.startswith(_DRIVERS_OWN)}
    return tuple(sorted(there & carried))


def _plain(name: str) -> str:
    """libnvJitLink.so.13 and libnvJitLink.so.13.0.88 are one library; .12 is another soname, which may collide too."""
    return name.partition(".so")[0] + ".so"
