"""The last steps before a start: what it takes for itself alone, and from whom it takes over."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from launcher import findings, instances
from launcher.instances import Claim, Claimant, Resource
from launcher.model import Finding, Plan
from launcher.paths import Places
from launcher.profile.schema import Profile
from launcher.supervise import processes
from launcher.supervise.stopping import end
from launcher.wanted_gpus import wanted_gpus


def wanted(plan: Plan, profile: Profile, name: str | None) -> tuple[Resource, ...]:
    """The instance's name, the GPUs that it will use, and its port."""
    gpus = tuple(instances.gpu(gpu.index, gpu.uuid) for gpu in wanted_gpus(plan, profile))
    port = (instances.port(plan.endpoint.port),) if plan.endpoint else ()
    return (instances.instance(name or plan.profile), *gpus, *port)


def claim(
    places: Places, who: Claimant, resources: Iterable[Resource], *, take_over: bool, say: Callable[[str], None]
) -> Claim:
    """All of it, if need be after the instance of this name that runs has been stopped and nothing of it is left."""
    resources = tuple(resources)
    made = instances.claim(places.locks, who, resources)
    if made.taken_by is None or not take_over:
        return made
    other = made.taken_by
    say(f"replacing {other}: waiting until nothing of it is left")
    if not end(other.process) and processes.is_alive(other.process):
        return Claim(findings=(_not_replaced(other),))
    return instances.claim(places.locks, who, resources)


def _not_replaced(other: Claimant) -> Finding:
    return findings.error(
        "not-replaced",
        f"{other} could not be stopped by this user.",
        fix=f"gpulaunch stop {other.instance}, as the user who started it.",
    )
