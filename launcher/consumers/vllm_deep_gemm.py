"""DeepGEMM as vLLM 0.33 carries it (`third_party/deep_gemm`): compiled when a model first needs it, with nvcc 12.9 at
least (its own message). Only its binary could be read, so its lookup is not predicted.
"""

from __future__ import annotations

from packaging.version import Version

from launcher.architectures import Release, order
from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import contributes_nothing as contribute
from launcher.consumers.defaults import looks_for_nothing as predict
from launcher.consumers.defaults import no_harm as harm

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "vLLM's DeepGEMM"
PACKAGE = "vllm"
PROBE: str | None = None
NEEDS: tuple[str, ...] = ()
WANTS = ("cuobjdump",)

_SINCE = Version("0.33")


def floor(version: str | None, capability: str) -> Release | None:
    """For the GPUs that it has kernels for: 9.0 and 10.x."""
    known = Version(version) if version else None
    return (12, 9) if (known is None or known >= _SINCE) and (9, 0) <= order(capability) < (11, 0) else None
