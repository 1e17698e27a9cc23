"""cuda-pathfinder, which CuPy, numba and NVIDIA's own bindings ask, reads CUDA_PATH before CUDA_HOME: the other way
round than everybody else (1.9.1, `_utils/env_vars.py`). So both name one root.
"""

from __future__ import annotations

from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import contributes_nothing as contribute
from launcher.consumers.defaults import no_floor as floor
from launcher.model import Found
from launcher.situation import Situation
from launcher.surroundings import Surroundings

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "cuda-pathfinder"
PACKAGE = "cuda-pathfinder"
PROBE = "ask_pathfinder.py"
NEEDS: tuple[str, ...] = ()
WANTS: tuple[str, ...] = ()


def predict(surroundings: Surroundings) -> Found:
    """`get_cuda_path_or_home`: an empty value counts as unset."""
    return Found(path=surroundings.said("CUDA_PATH", "CUDA_HOME"))


def harm(found: Found, situation: Situation) -> str | None:
    """Where the two variables differ, its users see another toolkit than the rest."""
    environ = situation.facts.caller.environ
    one, other = environ.get("CUDA_PATH"), environ.get("CUDA_HOME")
    return f"it goes by CUDA_PATH={one}, all others by CUDA_HOME={other}" if one and other and one != other else None
