"""NCCL comes with torch's wheels. Variables that name another one do not reach everybody, and DeepEP refuses a second.

VLLM_NCCL_SO_PATH has no effect in spawned workers (vllm-project/vllm#15525); `deep_ep/__init__.py:check_nccl_so`
asserts that the loaded library is the wheel's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import looks_for_nothing as predict
from launcher.consumers.defaults import no_floor as floor
from launcher.consumers.defaults import no_harm as harm
from launcher.model import Change, Finding, Step
from launcher.situation import Situation

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "NCCL"
PACKAGE = "torch"  # whose dependency it is
PROBE: str | None = None
NEEDS: tuple[str, ...] = ()
WANTS: tuple[str, ...] = ()

_NAMES = ("VLLM_NCCL_SO_PATH", "SGLANG_NCCL_SO_PATH")
_DEEP_EP = ("deep-ep", "sgl-deep-ep")


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """A word on what the profile sets; nothing is set."""
    wished = {name: value for name, value in situation.profile.env.set.items() if name in _NAMES}
    if "nccl" in situation.profile.env.set.get("LD_PRELOAD", ""):
        wished["LD_PRELOAD"] = situation.profile.env.set["LD_PRELOAD"]
    for name in wished:
        where = situation.asked.where(f"env.set.{name}")
        if any(situation.has(package) for package in _DEEP_EP):
            yield findings.warning(
                "second-nccl",
                f"{name} names another NCCL than the wheel's, and DeepEP asserts that there is no other.",
                fix=f"Leave {name} out, or set EP_SUPPRESS_NCCL_CHECK=1 knowing why.",
                where=where,
            )
        elif name == "VLLM_NCCL_SO_PATH":
            yield findings.warning(
                "second-nccl",
                "VLLM_NCCL_SO_PATH does not reach the workers that vLLM spawns: they take the wheel's NCCL.",
                fix="Install the wanted nvidia-nccl wheel in the target instead.",
                where=where,
            )
