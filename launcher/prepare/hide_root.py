"""A root without a compiler: libraries that find no nvcc in it go by torch's own CUDA release.

It has lib/ and lib64/, for a loader may raise where CUDA_HOME has neither (an older sgl_kernel); it is a real folder,
for some assert that one exists at import (deep_gemm).
"""

from __future__ import annotations

from pathlib import Path

from launcher.model import Step
from launcher.prepare.tree import File, Link, install

_README = b"""gpulaunch points CUDA_HOME here when no CUDA toolkit on this machine suits the server, so that no library
finds one that would mislead it. `gpulaunch explain --profile NAME` says why.
"""


def carry_out(step: Step) -> None:
    """The same folder for every server."""
    install(Path(step.path), {"README": File(_README), "lib": None, "lib64": Link("lib")})
