"""The last steps before a start: what it takes for itself alone, and from whom it takes over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from launcher import findings, instances, leftovers
from launcher.engines.ports import beside
from launcher.instances import Claim, Claimant, Resource
from launcher.model import Finding, Plan
from launcher.paths import Places
from launcher.profile.schema import Profile
from launcher.runs import run_of_id
from launcher.supervise import processes
from launcher.supervise.stopping import BEYOND_GRACE, end
from launcher.wanted_gpus import wanted_gpus


def wanted(plan: Plan, profile: Profile, name: str | None) -> tuple[Resource, ...]:
    """The instance's name, the GPUs that it will use, its port, and those that its engine binds beside it."""
    gpus = tuple(instances.gpu(gpu.index, gpu.uuid) for gpu in wanted_gpus(plan, profile))
    own = (plan.endpoint.port,) if plan.endpoint else ()
    others = (number for number, _ in beside(plan.engine, plan.argv, plan.endpoint))
    return (instances.instance(name or plan.profile), *gpus, *map(instances.port, (*own, *others)))


def claim(
    places: Places, who: Claimant, resources: Iterable[Resource], *, take_over: bool, say: Callable[[str], None]
) -> Claim:
    """All of it, if need be after the instance of this name that runs has been stopped and nothing of it is left.

    Where a launcher that had any of it was killed, its guard is given the time to end what it left.
    """
    resources = tuple(resources)
    _bury_the_dead(places, {resource.file_name for resource in resources}, say)
    made = instances.claim(places.locks, who, resources)
    if made.taken_by is None or not take_over:
        return made
    other = made.taken_by
    say(f"replacing {other}: waiting until nothing of it is left")
    if not end(other.process, _patience(places, other)) and processes.is_alive(other.process):
        return Claim(findings=(_not_replaced(other),))
    return instances.claim(places.locks, who, resources)


def _bury_the_dead(places: Places, wanted: Collection[str], say: Callable[[str], None]) -> None:
    """Locks of launchers that were killed, once their guards have done what they can. `wanted`: names of files."""
    killed = instances.stale(places.locks)
    if killed:
        leftovers.await_guards({holder.run_id for path, holder in killed if path.name in wanted}, say)
        instances.sweep(places.locks, leftovers.guarded())


def _patience(places: Places, other: Claimant) -> float | None:
    """Seconds that its stop takes at most; None, no bound, where its run is not recorded here."""
    run = run_of_id(places, other.run_id)
    record = run.read("processes.json") if run is not None else None
    return float(record.get("grace") or 0.0) + BEYOND_GRACE if isinstance(record, dict) else None


def _not_replaced(other: Claimant) -> Finding:
    return findings.error(
        "not-replaced",
        f"{other} could not be stopped by this user, or has not ended in the time that a stop takes.",
        fix=f"gpulaunch stop {other.instance}, as the user who started it.",
    )
