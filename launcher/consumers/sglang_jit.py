"""SGLang's own kernels. From 0.5.23 on they are compiled while serving and have no prebuilt form.

`kernels/jit/utils/arch.py` and `compile/toolchain.py` (0.5.23): the common lookup, then /usr/local/cuda whether it is
there or not; 12.0 is built as `f` from nvcc 12.9 on, else as `a`. Earlier ones go through tvm-ffi.
"""

from __future__ import annotations

from packaging.version import Version

from launcher.consumers import lookup
from launcher.consumers.defaults import contributes_nothing as contribute
from launcher.consumers.defaults import no_floor as floor
from launcher.consumers.defaults import no_harm as harm
from launcher.model import Found
from launcher.situation import Situation
from launcher.surroundings import Surroundings

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "SGLang's kernels"
PACKAGE = "sglang"
PROBE: str | None = None  # importing it takes a GPU; the lookup is the common one
NEEDS = ("nvcc", "cicc", "ptxas", "cuda_runtime.h", "lib64", "libcudart.so", "libcuda-stub")
WANTS: tuple[str, ...] = ()

_COMPILES_ITSELF = Version("0.5.23")


def compiles(situation: Situation) -> str | None:
    """Certainly, from the version on that was read to do so."""
    version = situation.version(PACKAGE)
    if version is None or Version(version) < _COMPILES_ITSELF:
        return None
    return f"SGLang {version}'s own kernels, which have no prebuilt form"


def predict(surroundings: Surroundings) -> Found | None:
    """The nvcc's release, else torch's."""
    version = surroundings.packages.get(PACKAGE)
    if version is None or Version(version) < _COMPILES_ITSELF:
        return None
    path = lookup.from_variables(surroundings)
    if path is None:
        path = lookup.from_search_path(surroundings)
    if path is None:
        path = lookup.USUAL
    return Found(path=path, release=surroundings.root(path).release or surroundings.torch_cuda)
