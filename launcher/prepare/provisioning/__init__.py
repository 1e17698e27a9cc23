"""Makes a CUDA toolkit on the spot, from pinned wheels: without root, and without touching any target.

Fetched with pip into a folder beside its place, completed, proven by compiling and linking, and only then put there in
one step. Two at once take turns; what an interrupted one left is removed by the next.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from launcher import findings, pinned_wheels
from launcher.errors import Refused
from launcher.model import Finding
from launcher.prepare.failure import Failure
from launcher.prepare.provisioning import complete, fetch, prove, store
from launcher.private_files import make_private


@dataclass(frozen=True)
class Step:
    """What happens now, and how much of the whole is done (from 0 to 1)."""

    text: str
    done: float


Tell = Callable[[Step], None]


def add(release: str, data: str, *, find_links: Sequence[str] = (), tell: Tell = lambda step: None) -> Path:
    """The toolkit of a release, made if it is not there. Returns its root.

    `find_links` are folders with the wheels, for a machine without a network. Raises Refused where there are none for
    this release or machine, and Failure where something on the way fails; nothing half-made is left.
    """
    machine = platform.machine()
    if not pinned_wheels.can_be_made(release, machine):
        raise Refused([_no_wheels(release, machine)])
    root = Path(pinned_wheels.root(data, release))
    make_private(root.parent)
    with store.locked(root.parent):
        if store.read(root) is not None:
            return root
        store.sweep(root.parent)
        _require_room(root.parent)
        with tempfile.TemporaryDirectory(prefix=store.UNFINISHED, dir=root.parent) as folder:
            made = _make(Path(folder), release, machine, find_links, tell)
            if root.exists():  # not finished, and not ours to trust
                shutil.rmtree(root)
            made.rename(root)
    return root


def _make(folder: Path, release: str, machine: str, find_links: Sequence[str], tell: Tell) -> Path:
    wheels = pinned_wheels.RELEASES[release]
    total = sum(wheel.megabytes for wheel in wheels)
    done = 0
    for wheel in wheels:
        tell(Step(f"fetching {wheel.pin} (about {wheel.megabytes} MB)", 0.9 * done / total))
        fetch.fetch(wheel.pin, folder / "wheels", find_links)
        done += wheel.megabytes
    tell(Step("unpacking", 0.9))
    made = fetch.unpack([wheel.pin for wheel in wheels], folder / "wheels", folder / "unpacked")
    complete.complete(made, machine)
    tell(Step("compiling and linking a kernel", 0.95))
    prove.prove(made, release, folder)  # a killed one leaves nothing elsewhere
    store.write(made, release, machine, {wheel.name: wheel.version for wheel in wheels})
    tell(Step(f"CUDA {release} is ready", 1.0))
    return made


def _require_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free >> 20
    needed = pinned_wheels.MEGABYTES_ON_DISK + 200  # the wheels themselves lie beside for a while
    if free < needed:
        raise Failure(
            f"{folder} has {free} MB free, and a toolkit takes {needed} MB while it is made",
            "Make room, or set XDG_DATA_HOME to a larger file system",
        )


def _no_wheels(release: str, machine: str) -> Finding:
    return findings.error(
        "toolkit-not-made",
        f"No CUDA {release} toolkit can be made here: {pinned_wheels.why_not(release, machine)}.",
        fix=f"Install NVIDIA's own CUDA {release} toolkit, or name one of {', '.join(pinned_wheels.RELEASES)}.",
    )
