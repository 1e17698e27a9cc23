"""GPUs and driver by NVML, or why they could not be told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from launcher.model import Driver, Gpu, Unknown

_PROC = Path("/proc/driver/nvidia/version")
_KERNEL_MODULE = re.compile(r"Kernel Module.*?\s(?P<version>[0-9]+\.[0-9.]+)\s")


def look() -> tuple[tuple[Gpu, ...] | None, Driver | None, tuple[Unknown, ...]]:
    """GPUs in PCI order, the driver, and what could not be told."""
    try:
        import pynvml
    except ImportError as error:
        return None, _from_proc(), (Unknown(subject="gpus", because=f"nvidia-ml-py is not installed: {error}"),)
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return None, _from_proc(), (Unknown(subject="gpus", because=f"NVML does not answer: {error}"),)
    try:
        return _gpus(pynvml), _driver(pynvml), ()
    except pynvml.NVMLError as error:
        return None, _from_proc(), (Unknown(subject="gpus", because=f"NVML does not answer: {error}"),)
    finally:
        pynvml.nvmlShutdown()


def parse_proc(text: str) -> str | None:
    """The driver's version in /proc/driver/nvidia/version. Pure."""
    match = _KERNEL_MODULE.search(text)
    return match["version"] if match else None


def _from_proc() -> Driver | None:
    try:
        version = parse_proc(_PROC.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return Driver(version=version, cuda=None, how=str(_PROC)) if version else None


def _driver(nvml: Any) -> Driver:
    number = int(nvml.nvmlSystemGetCudaDriverVersion_v2())
    version = _text(nvml.nvmlSystemGetDriverVersion())
    return Driver(version=version, cuda=f"{number // 1000}.{number % 1000 // 10}", how="NVML")


def _gpus(nvml: Any) -> tuple[Gpu, ...]:
    count = int(nvml.nvmlDeviceGetCount())
    return tuple(_gpu(nvml, index) for index in range(count))


def _gpu(nvml: Any, index: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    return Gpu(
        index=index,
        name=_text(nvml.nvmlDeviceGetName(handle)),
        uuid=_text(nvml.nvmlDeviceGetUUID(handle)),
        capability=f"{major}.{minor}",
        memory_total=int(memory.total),
        memory_used=int(memory.used),
        bus_id=_text(nvml.nvmlDeviceGetPciInfo(handle).busId),
    )


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
