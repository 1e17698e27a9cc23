"""CUDA_VISIBLE_DEVICES for the GPUs that a profile selects. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from launcher import findings
from launcher.gpu_selection import is_wished, used
from launcher.model import Change, Finding, Gpu
from launcher.situation import Situation


def selection(situation: Situation, values: Mapping[str, str]) -> Iterator[Change | Finding]:
    """CUDA_VISIBLE_DEVICES for `gpus.select`, as indices: an engine may refuse anything else there."""
    wishes = situation.profile.gpus.select
    if not wishes:
        return
    where = situation.asked.where("gpus.select")
    if values.get("CUDA_VISIBLE_DEVICES"):
        yield findings.error(
            "gpus-chosen-twice",
            f"gpus.select chooses GPUs, and the caller's CUDA_VISIBLE_DEVICES={values['CUDA_VISIBLE_DEVICES']} does.",
            fix="Unset CUDA_VISIBLE_DEVICES, or remove gpus.select from the profile.",
            where=where,
        )
        return
    gpus = situation.facts.gpus or ()
    unmet = [wish for wish in wishes if not any(is_wished(gpu, wish) for gpu in gpus)]
    if gpus and unmet:
        yield findings.error(
            "gpu-not-here",
            f"gpus.select names {', '.join(unmet)}; here are {_listed(gpus)}.",
            fix="Name a GPU by its index in PCI order, its UUID (or the beginning) or its name.",
            where=where,
        )
        return
    chosen = [str(gpu.index) for gpu in used(situation.profile, situation.facts)] if gpus else list(wishes)
    yield Change(
        name="CUDA_VISIBLE_DEVICES",
        action="set",
        value=",".join(chosen),
        origin="profile",
        because=f"gpus.select: {', '.join(wishes)}",
    )


def _listed(gpus: tuple[Gpu, ...]) -> str:
    return "; ".join(f"{gpu.index} {gpu.name} {gpu.uuid}" for gpu in gpus) or "none"
