"""Asks FlashInfer's and torch's own functions what they take for the CUDA toolkit; prints one line of JSON.

Runs in the environment that serves. The two GPUs of compute capability 12.0 are said, not there: torch's functions
that count and ask them are replaced. Nothing else is.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Heard(logging.Handler):
    """Every warning of any library."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def two_gpus_of_capability_12_0() -> None:
    """Replaces what torch says of the GPUs."""
    import torch

    torch.cuda.device_count = lambda: 2
    torch.cuda.get_device_capability = lambda device=None: (12, 0)


def said(function: Callable[[], Any]) -> str:
    """What a function returns, or the exception as text: both are answers."""
    try:
        return str(function())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    heard = Heard()
    logging.getLogger().addHandler(heard)
    two_gpus_of_capability_12_0()
    answers: dict[str, Any] = {"nvcc": shutil.which("nvcc"), "arch_list": os.environ.get("FLASHINFER_CUDA_ARCH_LIST")}
    try:
        answers.update(ask())
    except Exception as error:  # FlashInfer raises at import where the arch list and nvcc disagree
        answers["import"] = f"{type(error).__name__}: {error}"
    answers["warnings"] = heard.lines
    print(json.dumps(answers))


def ask() -> dict[str, Any]:
    import flashinfer
    import torch
    import torch.utils.cpp_extension
    from flashinfer.compilation_context import CompilationContext
    from flashinfer.jit import core, cpp_ext

    answers: dict[str, Any] = {
        "import": "ok",
        "flashinfer": flashinfer.__version__,
        "torch_cuda": torch.version.cuda,
        "path": said(cpp_ext.get_cuda_path),
        "version": said(cpp_ext.get_cuda_version),
        "archs": sorted(CompilationContext().TARGET_CUDA_ARCHS),
        "check": said(core.check_cuda_arch),
        "torch_home": said(torch.utils.cpp_extension._find_cuda_home),
        "runtimes": loaded("libcudart.so"),
    }
    # Without the list FlashInfer goes by the version alone: it shows whether the cure is more than the list.
    os.environ.pop("FLASHINFER_CUDA_ARCH_LIST", None)
    answers["archs_without_list"] = sorted(CompilationContext().TARGET_CUDA_ARCHS)
    return answers


def loaded(name: str) -> list[str]:
    """The libraries of this name in the process."""
    with Path("/proc/self/maps").open() as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps}
    return sorted(path for path in paths if Path(path).name.startswith(name))


if __name__ == "__main__":
    sys.exit(main())
