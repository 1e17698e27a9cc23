"""Completes what the wheels make together: what builds ask for and they lack (flashinfer-ai/flashinfer#5064).

This tree is our own, so it is completed in place; a target's is seen through a view (`launcher.prepare.view`).
"""

from __future__ import annotations

import re
from pathlib import Path

from launcher.prepare.driver_functions import DRIVER_FUNCTIONS
from launcher.prepare.failure import Failure
from launcher.prepare.stub_library import shared_library

_VERSIONED = re.compile(r"(?P<plain>lib.+\.so)\.[0-9][0-9.]*")


def complete(root: Path, machine: str) -> None:
    """lib64, unversioned names of libraries, and a stub of libcuda. Raises Failure where there is no compiler."""
    for part in ("bin/nvcc", "nvvm/bin/cicc", "include/cuda_runtime.h", "lib"):
        if not (root / part).exists():
            raise Failure(f"the wheels hold no {part}", "Report it: the pinned wheels are not what they were")
    (root / "lib64").symlink_to("lib")
    for library in sorted((root / "lib").iterdir()):
        match = _VERSIONED.fullmatch(library.name)
        plain = root / "lib" / match["plain"] if match else None
        if plain is not None and not plain.exists():
            plain.symlink_to(library.name)
    (root / "lib/stubs").mkdir()
    (root / "lib/stubs/libcuda.so").write_bytes(shared_library("libcuda.so.1", machine, DRIVER_FUNCTIONS))
