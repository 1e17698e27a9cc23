"""sglang-kernel loads a libcudart into the whole process before its own modules: from the toolkit, then the system.

`load_utils.py` (0.4.10): the first of CUDA_HOME/lib, CUDA_HOME/lib64 and the system's folders that holds
libcudart.so of torch's major, of 13 or of 12. Older copies raise "Could not find CUDA lib directory." where a root has
neither lib nor lib64, so every root of ours has both.
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

NAME = "sglang-kernel"
PACKAGE = "sglang-kernel"
PROBE: str | None = None  # importing it loads kernels, which takes a driver
NEEDS: tuple[str, ...] = ()
WANTS: tuple[str, ...] = ()


def predict(surroundings: Surroundings) -> Found:
    """`path` is the library that the toolkit would give; None where it would come from the system or not at all."""
    home = lookup.from_variables(surroundings)
    if home is None:
        home = lookup.from_search_path(surroundings)
    if home is None:
        home = lookup.USUAL
    major = (surroundings.torch_cuda or "12").partition(".")[0]
    there = surroundings.root(home)
    for folder in ("lib", "lib64"):
        for version in dict.fromkeys((major, "13", "12")):
            if f"{folder}/libcudart.so.{version}" in there.holds:
                return Found(path=f"{home}/{folder}/libcudart.so.{version}")
    return Found()


def harm(found: Found, situation: Situation) -> str | None:
    """Two CUDA runtimes in one process."""
    built = (situation.torch_cuda or "").partition(".")[0]
    if found.path is None or not built or found.path.endswith(f".{built}"):
        return None
    return f"it loads {found.path} into a process of CUDA {situation.torch_cuda} (sgl-project/sglang#18203)"
