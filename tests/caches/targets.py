"""A target with a FlashInfer that compiles nothing: its builds write a file, fail, or wait, as a module's name says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CORE = '''\
"""A stand-in for FlashInfer: `build` calls the nvcc of CUDA_HOME, as the real one does through ninja."""
import os
import subprocess
from pathlib import Path

FOLDER = Path(os.environ["FLASHINFER_WORKSPACE_BASE"]) / ".cache/flashinfer/0.6.8/120f/cached_ops"


class Spec:
    is_aot = False

    def __init__(self, name):
        self.name = name
        self.jit_library_path = FOLDER / name / f"{name}.so"

    def build(self, verbose):
        if self.jit_library_path.exists():
            return
        nvcc = os.environ["CUDA_HOME"] + "/bin/nvcc"
        done = subprocess.run([nvcc, self.name], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError("Ninja build failed. Ninja output:\\n" + done.stdout + done.stderr)
        self.jit_library_path.parent.mkdir(parents=True)
        self.jit_library_path.write_text(done.stdout)
'''
MODULE = "from flashinfer.jit.core import Spec\n\n\ndef gen_{name}_module():\n    return Spec({name!r})\n"
NVCC = """\
#!/bin/sh
case "$1" in --version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit ;; esac
echo "$1" >> "{calls}"
{does}
"""
MODULES = ("sampling", "page", "norm", "quantization", "rope", "cascade")
# What makes a toolkit complete for FlashInfer, beside its nvcc.
PARTS = (
    "nvvm/bin/cicc", "bin/ptxas", "bin/cudafe++", "bin/fatbinary", "bin/nvlink", "bin/crt/link.stub",
    "include/cuda_runtime.h", "include/cuda_fp8.h", "include/curand_kernel.h", "include/curand.h", "include/cublasLt.h",
    "include/cccl/cuda/std/version", "include/cccl/cub/cub.cuh", "include/cccl/thrust/version.h",
    "include/cuda_fp16.h", "include/cuda_bf16.h", "include/crt/host_defines.h", "include/nvrtc.h",
    "lib64/libcudart.so", "lib64/libcudart.so.13", "lib64/libcudart_static.a", "lib64/libcudadevrt.a",
    "lib64/stubs/libcuda.so",
)  # fmt: skip


def toolkit(folder: Path, does: str = "echo compiled") -> Path:
    """A complete CUDA 13.0 by its files; its nvcc notes what it is called for in `calls`."""
    for name in PARTS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o755)
    (folder / "include/cuda_runtime_api.h").write_text("#define CUDART_VERSION 13000\n")
    nvcc = folder / "bin/nvcc"
    nvcc.write_text(NVCC.format(calls=folder / "calls", does=does))
    nvcc.chmod(0o755)
    return folder


def calls(folder: Path) -> list[str]:
    """What the toolkit's nvcc was called for."""
    file = folder / "calls"
    return file.read_text().split() if file.exists() else []


def target(folder: Path, modules: tuple[str, ...] = MODULES) -> Path:
    """A prefix whose python is this one, with a FlashInfer 0.6.8 of these modules and torch for CUDA 13.0."""
    site = folder / "lib/python3.11/site-packages"
    for name, version in (("flashinfer_python", "0.6.8"), ("torch", "2.11.0")):
        (site / f"{name}-{version}.dist-info").mkdir(parents=True)
    (site / "torch").mkdir()
    (site / "torch/version.py").write_text("__version__ = '2.11.0+cu130'\ncuda: str | None = '13.0'\n")
    jit = site / "flashinfer/jit"
    jit.mkdir(parents=True)
    (site / "flashinfer/__init__.py").touch()
    (jit / "__init__.py").touch()
    (jit / "core.py").write_text(CORE)
    for name in modules:
        (jit / f"{name}.py").write_text(MODULE.format(name=name))
    (folder / "bin").mkdir()
    for program in ("ninja",):
        (folder / "bin" / program).write_text("#!/bin/sh\n")
        (folder / "bin" / program).chmod(0o755)
    python = folder / "bin/python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}" exec "{os.path.realpath(sys.executable)}" "$@"\n')
    python.chmod(0o755)
    return folder


PROFILE = """\
schema: 1
name: server
engine: command
command: [sh, -c, "exit 3"{flags}]
ready: none
target: {{venv: {venv}}}
cuda: {{toolkit: {toolkit}, arch: ["12.0"]}}
"""
