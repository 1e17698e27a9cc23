"""Which GPUs the server will see, and the compute capabilities to build for. Pure."""

from __future__ import annotations

from launcher.architectures import order
from launcher.model import Facts, Gpu
from launcher.profile.schema import Profile


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
