"""The JIT caches: every variable of a library that is installed points into a folder that is made before it. Pure.

What the profile or the operator sets stands; a name that nobody reads any more is told
(NVIDIA/TensorRT-LLM#17810: renamed variables sent caches back to shared storage).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from launcher import findings
from launcher.caches import CACHES, DEAD, OVERWRITTEN, Cache
from launcher.consumers import workspace
from launcher.model import Change, Finding, Request, Step
from launcher.situation import Situation


def variables(situation: Situation, request: Request) -> Iterator[Change | Step | Finding]:
    """Variables and folders of the installed libraries' caches."""
    said = _said(situation, request)
    for cache in CACHES:
        place = workspace.folder(cache, situation)
        if place is None or not any(situation.has(owner) for owner in cache.owners) or cache.variable in said:
            continue
        overwritten = _overwritten(cache, said)
        if overwritten:
            place, why = overwritten
        else:
            yield Step(action="folder", path=place, because=f"{cache.variable}: compiled while serving")
            why = f"{_kind(cache)}: {cache.because}"
        yield Change(name=cache.variable, action="set", value=place, origin="cuda", because=situation.because(why))
    yield from _dead(situation, said)


def _kind(cache: Cache) -> str:
    return "shared by all toolchains" if cache.covers_toolkit else "this toolchain's own"


def _said(situation: Situation, request: Request) -> Mapping[str, str | None]:
    """What profile and operator say of variables, by name; None: removed, or the caller's without a value."""
    wish, callers = situation.profile.env, situation.facts.caller.environ
    kept = {name: value for name, value in callers.items() if any(fnmatchcase(name, glob) for glob in wish.passed)}
    kept |= {name: callers[name] for name in request.keep_env if name in callers}
    return {**kept, **dict(wish.set), **dict.fromkeys(wish.unset), **dict(request.env)}


def _overwritten(cache: Cache, said: Mapping[str, str | None]) -> tuple[str, str] | None:
    """The value of a variable that the engine would write over from this one."""
    for name, source in OVERWRITTEN.items():
        value = said.get(name)
        if source == cache.variable and value:
            return value, f"as {name}, which sglang overwrites from this one"
    return None


def _dead(situation: Situation, said: Mapping[str, str | None]) -> Iterator[Finding]:
    callers = situation.facts.caller.environ
    for name, (instead, source) in DEAD.items():
        if said.get(name) or callers.get(name):
            where = situation.asked.where(f"env.set.{name}") if name in situation.profile.env.set else None
            yield findings.warning(
                "dead-cache-variable",
                f"{name} is set, and no library reads it any more ({source}): the cache is where {instead} says.",
                fix=f"Set {instead} in env.set, or nothing: gpulaunch sets it.",
                where=where,
            )
