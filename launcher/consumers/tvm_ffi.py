"""apache-tvm-ffi builds CUDA modules inline: sglang 0.5.14's own kernels and sgl-deep-gemm go through it.

`cpp/extension.py` (0.1.11): the common lookup, RuntimeError where nothing is found; without an arch list the first line
of nvidia-smi, whatever CUDA_VISIBLE_DEVICES says.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.architectures import first_release, parse_release
from launcher.consumers import lookup
from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import no_floor as floor
from launcher.model import Change, Finding, Found, Step
from launcher.situation import Situation
from launcher.surroundings import Surroundings

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "tvm-ffi"
PACKAGE = "apache-tvm-ffi"
PROBE = "ask_tvm_ffi.py"
NEEDS = ("nvcc", "cicc", "ptxas", "cuda_runtime.h", "libcudart.so")
WANTS: tuple[str, ...] = ()
_ARCH_LIST = "TVM_FFI_CUDA_ARCH_LIST"


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """The arch list in its syntax: blanks between entries, suffixes taken literally; `a` where nvcc knows it."""
    if not situation.capabilities:
        return
    release = parse_release(situation.choice.release) if situation.choice else None
    yield Change(
        name=_ARCH_LIST,
        action="set",
        value=" ".join(f"{capability}{_suffix(capability, release)}" for capability in situation.capabilities),
        origin="cuda",
        because=situation.because("left alone it takes the first GPU of nvidia-smi, whichever ones are used"),
    )


def _suffix(capability: str, release: tuple[int, int] | None) -> str:
    first = first_release(capability, "a")
    return "a" if first is not None and (release is None or release >= first) else ""


def predict(surroundings: Surroundings) -> Found:
    """`_find_cuda_home` and `_get_cuda_target`."""
    path = lookup.common(surroundings)
    errors = {} if path is not None else {"path": "RuntimeError"}
    said = surroundings.environ.get(_ARCH_LIST)
    if said is None:
        return Found(path=path, errors=errors)
    archs = said.split()
    if any(len(arch.split(".")) != 2 for arch in archs):
        return Found(path=path, errors={**errors, "archs": "ValueError"})
    return Found(path=path, archs=tuple(archs), errors=errors)


def harm(found: Found, situation: Situation) -> str | None:
    """Only what it cannot build."""
    return f"its modules cannot be built: {found.errors['path']}" if "path" in found.errors else None
