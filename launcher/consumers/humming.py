"""humming-kernels weighs every toolkit it can find and keeps those of torch's major release (0.1.19, `utils/cuda.py`).

So it is the one consumer that a stale CUDA_HOME does not mislead; NVRTC compiles by default, nvcc on request.
"""

from __future__ import annotations

from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import contributes_nothing as contribute
from launcher.consumers.defaults import looks_for_nothing as predict  # it needs no help: the major release decides
from launcher.consumers.defaults import no_floor as floor
from launcher.consumers.defaults import no_harm as harm

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "humming"
PACKAGE = "humming-kernels"
PROBE: str | None = None
NEEDS = ("cuda_runtime.h",)
WANTS: tuple[str, ...] = ()
