"""DeepEP takes NCCL and NVSHMEM from the target's wheels, unless a variable names a root (sgl-deep-ep 0.1.2.post1):
EP_NCCL_ROOT_DIR, NCCL_DIR, EP_NVSHMEM_ROOT_DIR, NVSHMEM_DIR of a build shell are not carried over.
"""

from __future__ import annotations

from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import contributes_nothing as contribute
from launcher.consumers.defaults import looks_for_nothing as predict
from launcher.consumers.defaults import no_floor as floor
from launcher.consumers.defaults import no_harm as harm

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "DeepEP"
PACKAGE = "sgl-deep-ep"
PROBE: str | None = None
NEEDS: tuple[str, ...] = ()
WANTS: tuple[str, ...] = ()
