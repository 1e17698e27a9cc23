"""Which GPUs: the compute capabilities to build for and CUDA_VISIBLE_DEVICES. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from launcher import findings
from launcher.architectures import order
from launcher.model import Change, Facts, Finding, Gpu
from launcher.profile.schema import Profile
from launcher.situation import Situation


def capabilities(profile: Profile, facts: Facts) -> tuple[str, ...]:
    """`cuda.arch`, else `gpus.capability`, else what NVML says of the GPUs that will be used; ascending."""
    found = profile.cuda.arch or profile.gpus.capability or tuple(gpu.capability for gpu in used(profile, facts))
    return tuple(sorted(set(found), key=order))


def used(profile: Profile, facts: Facts) -> tuple[Gpu, ...]:
    """The GPUs that the server will see, in PCI order; empty where none could be told."""
    gpus = facts.gpus or ()
    visible = facts.caller.environ.get("CUDA_VISIBLE_DEVICES")
    wishes = profile.gpus.select or (tuple(visible.split(",")) if visible else ())
    if not wishes:
        return gpus
    return tuple(gpu for gpu in gpus if any(is_wished(gpu, wish.strip()) for wish in wishes))


def is_wished(gpu: Gpu, wish: str) -> bool:
    """A wish is an index in PCI order, a UUID or its beginning, or a name."""
    if wish.isdigit():
        return gpu.index == int(wish)
    return gpu.uuid.startswith(wish) or gpu.name == wish or wish.lower() in gpu.name.lower()


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
