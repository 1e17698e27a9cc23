"""vLLM decides at the start whether FlashInfer is used at all, and says so in one warning.

`utils/flashinfer.py` (0.33.0): without flashinfer-cubin it wants the nvcc of the common lookup and ninja on PATH.
Earlier releases ask `which nvcc` alone, so the chosen nvcc has to be on PATH, too (smg-project/smg#2566).
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.consumers import lookup
from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import no_floor as floor
from launcher.model import Change, Finding, Found, Step
from launcher.situation import Situation
from launcher.surroundings import Surroundings

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "vLLM's use of FlashInfer"
PACKAGE = "vllm"
PROBE = "ask_vllm_flashinfer.py"
NEEDS: tuple[str, ...] = ()
WANTS: tuple[str, ...] = ()

CUBIN, LIBRARY = "flashinfer-cubin", "flashinfer-python"
OFF = "off"
# What becomes of running it tells what access(2) says of it: these have no x bit, or are not there.
_NOT_EXECUTABLE = ("missing", "forbidden", "below-a-file")


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """Which optional features a root without a compiler turns off."""
    hidden = situation.choice is not None and situation.choice.release is None
    if hidden and situation.has(LIBRARY) and not situation.has(CUBIN) and not situation.assumed:
        yield findings.note(
            "feature-off",
            f"vLLM {situation.version(PACKAGE)} will not use FlashInfer at all: there is no nvcc and no {CUBIN}.",
            fix="A toolkit that suits, or `vllm download-kernels` in the target.",
        )


def predict(surroundings: Surroundings) -> Found:
    """`path` is the nvcc that it finds; the check says "off" where FlashInfer is not used."""
    home = surroundings.said("CUDA_HOME", "CUDA_PATH")
    if home is None:
        home = lookup.from_search_path(surroundings) or lookup.USUAL
    nvcc = None if surroundings.root(home).nvcc in _NOT_EXECUTABLE else f"{home.rstrip('/')}/bin/nvcc"
    has_cubin = CUBIN in surroundings.packages or surroundings.environ.get("VLLM_HAS_FLASHINFER_CUBIN") == "1"
    usable = has_cubin or (nvcc is not None and surroundings.which("ninja") is not None)
    on = LIBRARY in surroundings.packages and usable
    return Found(path=nvcc, errors={} if on else {"check": OFF})


def harm(found: Found, situation: Situation) -> str | None:
    """Slower, or another backend than was asked for."""
    if "check" not in found.errors or not situation.has(LIBRARY):
        return None
    return "FlashInfer is switched off behind one warning: attention, sampling and MoE take other kernels"
