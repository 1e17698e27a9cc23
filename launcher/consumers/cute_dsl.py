"""CUTLASS's Python DSL (quack and FlashAttention 4 build on it) compiles with what it brings and needs no toolkit.

The architecture comes from the GPU; CUTE_DSL_ARCH and CUTE_DSL_PTXAS_PATH of a caller's shell would overrule it
(cutlass-dsl 4.8.0, `env_manager.py`), so they are not carried over.
"""

from __future__ import annotations

from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import contributes_nothing as contribute
from launcher.consumers.defaults import looks_for_nothing as predict
from launcher.consumers.defaults import no_floor as floor
from launcher.consumers.defaults import no_harm as harm

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "CUTLASS DSL"
PACKAGE = "nvidia-cutlass-dsl"
PROBE: str | None = None
NEEDS: tuple[str, ...] = ()
WANTS: tuple[str, ...] = ()
