"""Runs in the environment that serves: asks a library's probe once for each environment on standard input.

    python asked.py PROBES PROBE FOLDER...      FOLDER...: put before the environment's own packages

The library is imported once; each question is asked in a fork of its own, in which the environment is the one of the
question and what the library has cached is forgotten. There is no GPU: torch is told which there are, and which CUDA
release it was built for.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from typing import Any

from entering import answer_all

# What keeps an answer for the life of a process.
FORGETFUL = ("flashinfer", "tilelang", "tvm_ffi", "deep_gemm", "cuda", "triton", "vllm", "sglang")


def main() -> None:
    probes, probe, *folders = sys.argv[1:]
    sys.path[:1] = [*folders, probes]
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    module = importlib.import_module(probe)
    tell(None)
    module.ask()  # imports the library, in an environment that it likes
    answer_all(lambda question: answered(module, question))


def answered(module: Any, question: dict[str, Any]) -> Any:
    os.environ.clear()
    os.environ.update(question["environ"])
    tell(question)
    forget()
    return module.ask().show()


def tell(question: dict[str, Any] | None) -> None:
    """What torch says of the GPUs and of its own build."""
    import torch

    said = question["capabilities"] if question else ["8.0"]
    capabilities = [tuple(map(int, text.split("."))) for text in said]
    torch.cuda.device_count = lambda: len(capabilities)
    torch.cuda.get_device_capability = lambda device=None: capabilities[device or 0]
    torch.cuda.is_available = lambda: bool(capabilities)
    torch.version.cuda = question["torch_cuda"] if question else "13.0"


def forget() -> None:
    """Every answer that a function of these libraries has cached."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in FORGETFUL and module is not None:
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear") and getattr(value, "__module__", None) == name:
                    value.cache_clear()


if __name__ == "__main__":
    main()
