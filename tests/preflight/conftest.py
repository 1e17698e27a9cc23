"""A moment before a start: described GPUs and devices, real ports, files and limits where a check asks for those."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from launcher.preflight.moment import Moment
from launcher.profile.asked import Asked
from launcher.supervise.gpu_memory import MIB, Held, Looked, Used
from tests import builders

TOTAL = 97_887 * MIB

Make = Callable[..., Moment]


def looked(*held: tuple[int, int, int], gpus: int = 8) -> Looked:
    """NVML's answer: so many GPUs of the founding machine; `held`: GPU, pid and MiB each."""
    return Looked(tuple(_used(index, held) for index in range(gpus)))


def _used(index: int, held: tuple[tuple[int, int, int], ...]) -> Used:
    uuid = builders.gpus()[index].uuid
    here = tuple(Held(index, uuid, pid, mib * MIB) for gpu, pid, mib in held if gpu == index)
    return Used(index, uuid, TOTAL, sum(entry.memory or 0 for entry in here), here)


@pytest.fixture
def moment(tmp_path: Path) -> Make:
    """Makes one; by default sglang on eight free GPUs, every device there. `plan`: changes of the plan."""
    dev, proc = tmp_path / "dev", tmp_path / "proc"
    for folder in (dev / "shm", proc / "driver/nvidia"):
        folder.mkdir(parents=True)
    for device in ("nvidiactl", "nvidia-uvm"):
        (dev / device).touch()

    def make(wish: Asked | None = None, *, nvml: Looked | None = None, plan: dict[str, Any] | None = None) -> Moment:
        asked, here = wish or builders.asked(), builders.facts()
        made = replace(builders.plan(asked, here), **(plan or {}))
        answer = nvml or looked()
        return Moment(
            plan=made, profile=asked.profile, facts=here, dev=dev, proc=proc, programs=(), nvml=lambda: answer
        )

    return make
