"""Proves a toolkit by what it is for: a kernel is compiled for a new GPU and linked as FlashInfer links.

Looking for files is not enough: everything compiles and the link fails (unslothai/unsloth-zoo#1099).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from launcher.paths import SYSTEM_PATH
from launcher.prepare.failure import Failure

_PATIENCE = 300.0  # seconds for each command
_SHOWN = 3  # lines of what a compiler says
# The headers are those that FlashInfer's modules include; 12.0 is the newest kind of card that every 13.x knows.
_KERNEL = """\
#include <cub/cub.cuh>
#include <cuda_fp8.h>
#include <curand_kernel.h>
__global__ void widen(const __nv_fp8_e4m3 *from, float *to) { to[threadIdx.x] = float(from[threadIdx.x]); }
extern "C" int run(const void *from, float *to) {
  widen<<<1, 32>>>(static_cast<const __nv_fp8_e4m3 *>(from), to);
  return (int)cudaGetLastError();
}
"""
_ARCH = "-gencode=arch=compute_120a,code=sm_120a"


def prove(root: Path, release: str, beside: Path | None = None) -> None:
    """Compiles and links in a folder of its own, below `beside` where given. Raises Failure in the command's words."""
    environ = {"PATH": f"{root}/bin:{':'.join(SYSTEM_PATH)}", "CUDA_HOME": str(root), "LC_ALL": "C"}
    with tempfile.TemporaryDirectory(prefix="gpulaunch-", dir=beside) as folder:
        Path(folder, "kernel.cu").write_text(_KERNEL, encoding="utf-8")
        said = _run([f"{root}/bin/nvcc", "--version"], folder, environ)
        if f"release {release}," not in said:
            raise Failure(f"the nvcc of the wheels is not of CUDA {release}", _CURE)
        _run([f"{root}/bin/nvcc", "-std=c++17", _ARCH, "-Xcompiler", "-fPIC", "-c", "kernel.cu"], folder, environ)
        libraries = [f"-L{root}/lib64", f"-L{root}/lib64/stubs", "-lcudart", "-lcuda"]
        _run(["c++", "-shared", "kernel.o", "-o", "kernel.so", *libraries], folder, environ)


_CURE = "Report it with `gpulaunch facts`: a toolkit of these wheels was seen to work elsewhere"


def _run(command: list[str], folder: str, environ: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**environ, "TMPDIR": os.environ.get("TMPDIR", folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
        )
    except FileNotFoundError:
        raise Failure(f"there is no {command[0]}: nvcc needs a C++ compiler", "apt install g++ (or gcc-c++)") from None
    except subprocess.TimeoutExpired:
        raise Failure(f"{command[0]} does not end within {_PATIENCE:.0f} s", _CURE) from None
    if done.returncode:
        said = " / ".join(line for line in done.stdout.splitlines()[-_SHOWN:] if line.strip())
        raise Failure(f"{Path(command[0]).name} fails: {said}", _CURE)
    return done.stdout
