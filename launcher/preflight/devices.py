"""Is /dev/nvidia-uvm there? CUDA starts with nothing else, and it comes late.

At boot a service is often faster than the module (ollama/ollama#14895, #7669, NixOS/nixpkgs#487054). CUDA itself asks
the setuid nvidia-modprobe for the device; where that is installed its absence is no fault.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from launcher import findings
from launcher.model import Finding
from launcher.preflight.moment import Moment
from launcher.profile.schema import Gpus
from launcher.supervise import gpu_memory

PAUSE = 0.5  # seconds between looks while we wait
_UVM = "nvidia-uvm"


def check(moment: Moment) -> Iterator[Finding]:
    """69 where the server asks for GPUs, and nobody will make the device."""
    if moment.asks_for_gpus and is_missing(moment.dev, moment.programs):
        yield findings.error(
            "nvidia-uvm-missing",
            f"{moment.dev / _UVM} is not there: CUDA will find no GPU.",
            fix="modprobe nvidia-uvm (and nvidia-modprobe -u -c 0), or wait for it: gpus: {wait: 60s}.",
        )


def is_missing(dev: Path, programs: tuple[Path, ...]) -> bool:
    """True for a machine with NVIDIA's driver (not WSL, whose device is /dev/dxg) without this device."""
    return (dev / "nvidiactl").exists() and not (dev / _UVM).exists() and not _would_be_made(programs)


def _would_be_made(programs: tuple[Path, ...]) -> bool:
    for folder in programs:
        try:
            mode = (folder / "nvidia-modprobe").stat().st_mode
        except OSError:
            continue
        if os.geteuid() == 0 or mode & stat.S_ISUID:
            return True
    return False


def await_gpus(
    wish: Gpus,
    say: Callable[[str], None],
    *,
    here: Callable[[Gpus], str | None] | None = None,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Waits, at most `gpus.wait` seconds, until the driver answers with so many GPUs as the profile asserts and the
    device is there. Says what it waits for. What is still missing then, the checks find.
    """
    missing_of = here or missing
    until, said = now() + wish.wait, ""
    while wish.wait > 0 and (lacks := missing_of(wish)) and now() < until:
        if lacks != said:
            say(f"waiting for {lacks}, at most {wish.wait:g} s")
            said = lacks
        sleep(PAUSE)


def missing(wish: Gpus) -> str | None:
    """What is not there yet, as a clause."""
    looked = gpu_memory.look()
    wanted = wish.count or len(wish.select) or 1
    if looked.gpus is None:
        return f"the driver ({looked.because})"
    if len(looked.gpus) < wanted:
        return f"{wanted} GPUs, {len(looked.gpus)} of which are there"
    return f"/dev/{_UVM}" if is_missing(Path("/dev"), Moment.programs) else None
