"""DeepGEMM as sglang brings it: it compiles its kernels with nvcc, and asserts at import that a toolkit exists.

`deep_gemm/__init__.py` (0.1.3) and `cuda_helpers.py` (0.2.3.post2) of sgl-deep-gemm. The AssertionError escapes what
sglang 0.5.14 and 0.5.23 catch, so a server dies where nothing is found; any folder will do, a compiler in it or not.
"""

from __future__ import annotations

from packaging.version import Version

from launcher.architectures import Release, order
from launcher.consumers import lookup
from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import contributes_nothing as contribute
from launcher.model import Found
from launcher.situation import Situation
from launcher.surroundings import Surroundings, Unforeseen

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "DeepGEMM"
PACKAGE = "sgl-deep-gemm"
PROBE = "ask_deep_gemm.py"
NEEDS: tuple[str, ...] = ()
WANTS = ("cuobjdump",)  # called on some paths; its wheels begin at 13.2

# From a version on: the oldest nvcc that it accepts (its own assertions).
_FLOORS: tuple[tuple[Version, Release], ...] = ((Version("0.2"), (12, 9)), (Version("0"), (12, 3)))
# From this version on `shutil.which` is asked instead of the program `which`.
_ASKS_ITSELF = Version("0.2")


def floor(version: str | None, capability: str) -> Release | None:
    """For the GPUs that it has kernels for, 9.0 and newer."""
    if order(capability) < (9, 0):
        return None
    known = Version(version) if version else None
    return next(oldest for since, oldest in _FLOORS if known is None or known >= since)


def predict(surroundings: Surroundings) -> Found:
    """Nothing found is an AssertionError while it is imported."""
    version = surroundings.packages.get(PACKAGE)
    if version is None:
        raise Unforeseen(PACKAGE)
    path = lookup.from_variables(surroundings)
    if path is None and (Version(version) >= _ASKS_ITSELF or surroundings.which("which") is not None):
        path = lookup.from_search_path(surroundings)
        if path == "" and Version(version) >= _ASKS_ITSELF:
            path = "."  # pathlib's spelling
    if path is None:
        path = lookup.usual_place(surroundings)
    return Found(path=path, errors={} if path is not None else {"path": "AssertionError"})


def harm(found: Found, situation: Situation) -> str | None:
    """From compute capability 9.0 on sglang imports it."""
    if "path" not in found.errors:
        return None
    return "its import ends in an AssertionError, which sglang does not catch: the server dies at the start"
