"""tilelang compiles with nvcc by default. It is the one library that looks for an nvcc wheel before /usr/local/cuda.

`env.py:_find_cuda_home` (0.1.12), once at import; an empty answer means that it has none.
"""

from __future__ import annotations

from launcher.consumers import lookup
from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import contributes_nothing as contribute
from launcher.consumers.defaults import no_floor as floor
from launcher.model import Found
from launcher.situation import Situation
from launcher.surroundings import Surroundings

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "tilelang"
PACKAGE = "tilelang"
PROBE = "ask_tilelang.py"
NEEDS = ("nvcc", "cicc", "ptxas", "cuda_runtime.h", "libcudart.so")
WANTS: tuple[str, ...] = ()
_WHEEL = "nvidia-cuda-nvcc"


def predict(surroundings: Surroundings) -> Found:
    """What it was told is taken as it stands; what it found must exist."""
    path = lookup.from_variables(surroundings)
    if path is not None:
        return Found(path=path)
    nvcc = surroundings.which("nvcc")
    if nvcc is not None:
        path = _of_nvcc(nvcc, lookup.from_search_path(surroundings) or "")
        return Found(path=path if surroundings.root(path).state != "missing" else "")
    if _WHEEL in surroundings.packages:
        return Found(path=f"{surroundings.site_packages[0]}/nvidia/cu13" if surroundings.site_packages else "")
    return Found(path=lookup.usual_place(surroundings) or "")


def _of_nvcc(nvcc: str, parent: str) -> str:
    """NVIDIA's HPC SDK keeps it one folder deeper, unless its path says cuda."""
    if "hpc_sdk" in nvcc.lower() and "cuda" not in nvcc.lower():
        return parent.rpartition("/")[0]
    return parent


def harm(found: Found, situation: Situation) -> str | None:
    """The first kernel says so."""
    return None if found.path else "its first kernel fails: it finds no CUDA installation"
