"""Who holds GPU memory now, by NVML, and the wait until what our processes held is back.

The driver frees a process's memory some time after the process is gone; a server that is started before that ends out
of memory (vllm-project/vllm#55510, gpustack/gpustack#2819). Never raises: "could not tell" is an answer. NVML may hang
on a GPU that fell off the bus: it is asked in a thread, and for so long.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from launcher import findings
from launcher.model import Finding
from launcher.supervise import processes
from launcher.supervise.naming import holder
from launcher.supervise.processes import Process

MIB = 1 << 20
_PATIENCE = 10.0  # seconds for NVML: without persistence mode each GPU is woken first
_PAUSE = 0.2  # seconds between looks
_MISMATCH = 18  # NVML_ERROR_LIB_RM_VERSION_MISMATCH


@dataclass(frozen=True)
class Held:
    """Memory of one GPU in the hands of one process. `memory` in bytes; None: the driver does not say how much."""

    gpu: int  # index in PCI order
    uuid: str
    pid: int
    memory: int | None

    def __str__(self) -> str:
        much = "memory" if self.memory is None else f"{self.memory // MIB:,} MiB"
        return f"{much} of GPU {self.gpu}"


@dataclass(frozen=True)
class Used:
    """One GPU. Memory in bytes; `held` None: the driver does not list processes (WSL, some vGPUs)."""

    gpu: int
    uuid: str
    total: int
    used: int
    held: tuple[Held, ...] | None

    @property
    def free(self) -> int:
        """Bytes."""
        return self.total - self.used


@dataclass(frozen=True)
class Looked:
    """All GPUs, or why they could not be told. `mismatch`: the driver's library and kernel module differ."""

    gpus: tuple[Used, ...] | None
    because: str = ""
    mismatch: bool = False


def look(patience: float = _PATIENCE) -> Looked:
    """What NVML says now, at most after so many seconds."""
    answers: list[Looked] = []
    asking = threading.Thread(target=lambda: answers.append(_look()), name="nvml", daemon=True)
    asking.start()
    asking.join(patience)
    return answers[0] if answers else Looked(None, f"NVML did not answer within {patience:g} s")


def held_by(members: Iterable[Process], looked: Looked) -> tuple[Held, ...]:
    """What these processes hold, dead ones too: NVML lists a pid until its memory is free.

    A pid that is somebody else's by now does not count.
    """
    wanted = {process.pid: process for process in members}
    return tuple(
        held
        for gpu in looked.gpus or ()
        for held in gpu.held or ()
        if held.pid in wanted and processes.identify(held.pid) in (wanted[held.pid], None)
    )


def await_release(
    members: Collection[Process],
    until: float,
    wait: Callable[[float], bool],
    *,
    ask: Callable[[], Looked] = look,
) -> tuple[Held, ...]:
    """Waits until these processes, which have ended, hold no GPU memory; what they hold still at `until`, monotonic.

    `wait` pauses for so many seconds and returns True if nobody waits any more. Where NVML cannot tell, nothing is
    waited for.
    """
    while True:
        held = held_by(members, ask())
        if not held or time.monotonic() >= until or wait(_PAUSE):
            return held


def memory_is_back(members: Collection[Process]) -> Callable[[float, threading.Event], str | None]:
    """A wait for `releasing.Release`. `members` are all processes that the server ever had."""

    def wait(until: float, stopped: threading.Event) -> str | None:
        held = await_release(members, until, stopped.wait)
        return None if stopped.is_set() or not held else f"not given back: {listed(held)}"

    return wait


def not_back(members: Collection[Process]) -> Finding | None:
    """An error while memory of processes that have ended is not given back: another start would end without any."""
    held = held_by(members, look())
    if not held:
        return None
    return findings.error(
        "gpu-held",
        f"GPU memory of the server that ended is not given back: {listed(held)}.",
        fix="Wait, or end that process; if none is there, nvidia-smi --gpu-reset, or a reboot, frees it.",
    )


def listed(held: Iterable[Held]) -> str:
    """Each with its holder: pid, user, command."""
    return "; ".join(f"{entry}, held by {holder(entry.pid)}" for entry in held)


def _look() -> Looked:
    try:
        import pynvml as nvml
    except ImportError as error:
        return Looked(None, f"nvidia-ml-py is not installed: {error}")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return Looked(None, f"NVML does not answer: {error}", mismatch=getattr(error, "value", 0) == _MISMATCH)
    try:
        return Looked(tuple(_gpu(nvml, index) for index in range(int(nvml.nvmlDeviceGetCount()))))
    except nvml.NVMLError as error:
        return Looked(None, f"NVML does not answer: {error}")
    finally:
        with contextlib.suppress(nvml.NVMLError):
            nvml.nvmlShutdown()


def _gpu(nvml: Any, index: int) -> Used:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    uuid = nvml.nvmlDeviceGetUUID(handle)
    uuid = uuid.decode() if isinstance(uuid, bytes) else str(uuid)
    by_pid = _by_pid(nvml, handle)
    held = None if by_pid is None else tuple(Held(index, uuid, pid, much) for pid, much in sorted(by_pid.items()))
    return Used(index, uuid, int(memory.total), int(memory.used), held)


def _by_pid(nvml: Any, handle: Any) -> dict[int, int | None] | None:
    """Bytes by pid. A process that computes and draws stands in both lists with all of its memory."""
    found: dict[int, int | None] = {}
    told = False
    for kind in ("Compute", "Graphics", "MPSCompute"):
        listed = _processes(nvml, kind, handle)
        told = told or listed is not None
        for pid, much in listed or ():
            before = found.get(pid)
            found[pid] = before if much is None else max(much, before or 0)
    return found if told else None


def _processes(nvml: Any, kind: str, handle: Any) -> list[tuple[int, int | None]] | None:
    """None where this driver has no such list."""
    for version in ("_v3", "_v2"):
        try:
            running = getattr(nvml, f"nvmlDeviceGet{kind}RunningProcesses{version}")(handle)
        except (nvml.NVMLError, AttributeError):
            continue
        return list(_told(running))
    return None


def _told(running: Iterable[Any]) -> Iterator[tuple[int, int | None]]:
    for entry in running:
        much = entry.usedGpuMemory
        # pynvml makes None of NVML_VALUE_NOT_AVAILABLE, older releases leave the number.
        yield int(entry.pid), None if much is None or int(much) >= (1 << 64) - 1 else int(much)
