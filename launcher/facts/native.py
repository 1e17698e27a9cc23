"""Compiled modules in the target, the CUDA libraries that they need, and where each of these lies.

A module without a path of its own finds a library only if torch has loaded it before, or the loader knows it: in a
"runtime" image libnvrtc.so.12 lies in a wheel where nobody looks (sgl-project/sglang#5002). Nothing is loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from launcher.facts import loader
from launcher.facts.elf import needed
from launcher.facts.files import below
from launcher.model import NativeModule, Target

# distribution -> its modules below site-packages. Those that torch's own path does not help.
MODULES: dict[str, tuple[str, ...]] = {
    "sglang-kernel": ("sgl_kernel/*.so", "sgl_kernel/*/common_ops*.so"),
    "sgl-kernel": ("sgl_kernel/*.so", "sgl_kernel/*/common_ops*.so"),
    "sgl-deep-gemm": ("deep_gemm/_C*.so",),
    "vllm": ("vllm/*.so",),
    "flash-attn": ("flash_attn_2_cuda*.so",),
    "xformers": ("xformers/_C*.so",),
}
# With their major release in the name. The driver's libcuda.so.1 and libnvidia-ml.so.1 come from elsewhere.
_OF_CUDA = re.compile(
    r"lib(cudart|nvrtc|nvJitLink|cublas|cublasLt|cufft|curand|cusolver|cusparse|cudnn|nccl)\.so\.[0-9]+"
)


def look(target: Target | None) -> tuple[NativeModule, ...]:
    """Every module that needs a library of CUDA's, by its file."""
    return tuple(_modules(target)) if target is not None and target.packages else ()


def _modules(target: Target) -> Iterator[NativeModule]:
    sites = [Path(site) for site in target.site_packages]
    for package in MODULES.keys() & (target.packages or {}).keys():
        for pattern in MODULES[package]:
            for file in sorted(file for site in sites for file in below(site, pattern)):
                names = [name for name in needed(file) if _OF_CUDA.fullmatch(name)]
                if names:
                    yield NativeModule(
                        package=package, file=str(file), needs={name: _where(name, sites) for name in names}
                    )


def _where(name: str, sites: list[Path]) -> str | None:
    """In the target's wheels, or where the system's loader finds it; None: in neither."""
    in_wheels = (folder for site in sites for folder in below(site, "nvidia/*/lib"))
    for folder in in_wheels:
        if os.path.lexists(folder / name):
            return str(folder / name)
    return next((path for known, path in loader.known() or () if known == name), None)
