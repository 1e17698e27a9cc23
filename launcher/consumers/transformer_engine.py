"""TransformerEngine looks for CUDA's libraries in the system first and in the wheels last, and loads them for the whole
process (`common/__init__.py`): CUDA_HOME and CUDA_PATH lead it to the chosen root, /usr/local/cuda is searched besides.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import looks_for_nothing as predict
from launcher.consumers.defaults import no_floor as floor
from launcher.consumers.defaults import no_harm as harm
from launcher.consumers.lookup import USUAL
from launcher.model import Change, Finding, Step
from launcher.situation import Situation

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "TransformerEngine"
PACKAGE = "transformer-engine"
PROBE: str | None = None
NEEDS = ("cuda_runtime.h",)
WANTS: tuple[str, ...] = ()


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """Headers from the chosen root; a word on what nobody can hide from it."""
    choice = situation.choice
    if choice is None:
        return
    if choice.release:
        why = "else the headers that were there when it was built"
        yield Change(
            name="NVTE_CUDA_INCLUDE_DIR", action="set", value=f"{choice.root}/include", origin="cuda", because=why
        )
    usual = next((it for it in situation.facts.toolkits if any(way.startswith(USUAL) for way in it.found)), None)
    major = (situation.torch_cuda or "").partition(".")[0]
    if usual and usual.release and major and usual.release.partition(".")[0] != major:
        yield findings.warning(
            "system-libraries-first",
            f"TransformerEngine also searches {USUAL} (CUDA {usual.release}) and loads what it finds there into a "
            f"process of CUDA {situation.torch_cuda}.",
            fix=f"Point {USUAL} at a toolkit of CUDA {major}, or remove it.",
        )
