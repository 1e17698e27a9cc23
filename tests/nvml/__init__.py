"""A stand-in for NVIDIA's management library, compiled from `stub.c`, whose answers a test writes into a file."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).with_name("stub.c")
NEVER = -1.0


def unavailable() -> str | None:
    """Why it cannot be built here, or None."""
    return None if shutil.which("cc") else "no C compiler (cc) to build the NVML stub with"


def build(folder: Path) -> Path:
    """The folder with the library, for LD_LIBRARY_PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in (("libnvidia-ml.so.1", SOURCE), ("libcuda.so.1", "/dev/null")):  # a driver has both
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / name, "-x", "c", source], check=True)
    return folder


@dataclass
class Nvml:
    """The described GPUs. Every change is one atomic rename, seen at the next call."""

    library: Path
    file: Path
    gpus: int = 1
    total: int = 96 << 10  # MiB
    processes: dict[tuple[int, int], tuple[int, float]] = field(default_factory=dict)
    error: int = 0

    @property
    def environ(self) -> dict[str, str]:
        """What a process needs to ask this one."""
        return {"LD_LIBRARY_PATH": str(self.library), "NVML_STUB": str(self.file)}

    def holds(self, pid: int, mib: int, *, gpu: int = 0, lingers: float = 0.0) -> None:
        """A process holds memory, and for so many seconds after somebody saw it gone; NEVER: for ever."""
        self.processes[gpu, pid] = (mib, lingers)
        self.write()

    def releases(self, pid: int) -> None:
        """It holds nothing any more."""
        self.processes = {key: value for key, value in self.processes.items() if key[1] != pid}
        self.write()

    def write(self) -> None:
        """The description as it is now."""
        beside = self.file.with_suffix(".new")
        beside.write_text("".join(f"{line}\n" for line in self._lines()))
        os.replace(beside, self.file)

    def _lines(self) -> Iterable[str]:
        yield f"error {self.error}"
        yield f"gpus {self.gpus} {self.total}"
        for (gpu, pid), (mib, lingers) in self.processes.items():
            yield f"process {gpu} {pid} {mib} {int(lingers * 1000) if lingers >= 0 else -1}"
