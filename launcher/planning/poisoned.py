"""Cached builds that would run another compiler than the chosen one, or that were linked for another CUDA. Pure.

FlashInfer up to 0.6.11 writes a module's build.ninja once: `cuda_home` of the first build stays, whatever CUDA_HOME
says later (`jit/core.py:JitSpec.build`; 0.6.12 writes it anew each time). And ninja asks for the age of a library
alone, not for the CUDA runtime that it was linked against (flashinfer-ai/flashinfer#5145).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from launcher import findings
from launcher.architectures import parse_release
from launcher.consumers.flashinfer import PACKAGE
from launcher.model import CachedBuild, Finding, Step
from launcher.situation import Situation

VARIABLE = "FLASHINFER_WORKSPACE_BASE"
_WRITES_ANEW = Version("0.6.12")
_SHOWN = 4  # modules by name
_RUNTIME = re.compile(r"libcudart\.so\.([0-9]+)")


@dataclass(frozen=True)
class _Poisoned:
    build: CachedBuild
    because: str


def set_aside(situation: Situation, env: Mapping[str, str]) -> Iterator[Step | Finding]:
    """What the server would use is moved aside before the start; what only others would use is told."""
    caches = situation.facts.caches
    if caches is None or not situation.has(PACKAGE) or situation.choice is None:
        return
    base = env.get(VARIABLE) or env.get("HOME")
    found = [_Poisoned(build, why) for build in caches.builds if (why := _why(build, situation, env))]
    locked = {(lock.below, lock.module) for lock in caches.locks if lock.kind == "held"}
    used = [one for one in found if one.build.base == base]
    free = [one for one in used if (one.build.base, one.build.module) not in locked]
    for one in free:
        yield Step(action="move-aside", path=one.build.folder, because=f"{one.build.module}: {one.because}")
    for group in _grouped(used):
        yield _told(group, locked)
    yield from _elsewhere([one for one in found if one.build.base != base], env)


def _why(build: CachedBuild, situation: Situation, env: Mapping[str, str]) -> str | None:
    """What is wrong with it, as a phrase; None where nothing is."""
    if build.version != situation.version(PACKAGE):
        return None
    root = env.get("CUDA_HOME")
    if _keeps_its_compiler(build.version) and build.cuda_home != root:
        return f"its build.ninja runs {_compiler(build, situation)}, and the chosen one is {_chosen(situation)}"
    built = parse_release(situation.torch_cuda)
    majors = {int(match[1]) for name in build.needs if (match := _RUNTIME.fullmatch(name))}
    if built and majors and built[0] not in majors:
        return f"it is linked against {', '.join(build.needs)}, and torch loads libcudart.so.{built[0]}"
    return None


def _keeps_its_compiler(version: str) -> bool:
    try:
        return Version(version) < _WRITES_ANEW
    except InvalidVersion:
        return False


def _compiler(build: CachedBuild, situation: Situation) -> str:
    if not build.compiler_exists:
        return f"{build.compiler}, which is not there any more"
    facts = situation.facts
    release = next((root.release for root in facts.roots if root.path == build.cuda_home), None)
    release = release or next((toolkit.release for toolkit in facts.toolkits if toolkit.root == build.cuda_home), None)
    return f"{build.compiler} ({f'CUDA {release}' if release else 'release unknown'})"


def _chosen(situation: Situation) -> str:
    choice = situation.choice
    assert choice is not None
    return f"{choice.root}/bin/nvcc (CUDA {choice.release})" if choice.release else f"none ({choice.root})"


def _grouped(found: Iterable[_Poisoned]) -> Iterator[list[_Poisoned]]:
    groups: dict[str, list[_Poisoned]] = {}
    for one in found:
        groups.setdefault(one.because, []).append(one)
    yield from groups.values()


def _told(group: list[_Poisoned], locked: set[tuple[str, str]]) -> Finding:
    builds = [one.build for one in group]
    being_built = [build.module for build in builds if (build.base, build.module) in locked]
    if being_built:
        return findings.warning(
            "poisoned-build",
            f"FlashInfer's cached {_names(builds)} cannot be used: {group[0].because}; "
            f"{', '.join(being_built)} is locked by a running process and stays where it is.",
            fix="End that process, then start again.",
        )
    return findings.warning(
        "poisoned-build",
        f"FlashInfer's cached {_names(builds)} cannot be used: {group[0].because}.",
        fix="Nothing: moved aside before the start, into a folder beside cached_ops; compiled anew when needed.",
    )


def _elsewhere(found: list[_Poisoned], env: Mapping[str, str]) -> Iterator[Finding]:
    """In the libraries' own place: this server does not look there, one that is started by hand does."""
    home = env.get("HOME")
    theirs = [one for one in found if one.build.base == home]
    if theirs:
        builds = [one.build for one in theirs]
        yield findings.note(
            "poisoned-build",
            f"{home}/.cache/flashinfer holds {_names(builds)}, which a server that is started by hand could not use: "
            f"{theirs[0].because}. This one has a cache of its own.",
        )


def _names(builds: list[CachedBuild]) -> str:
    names = list(dict.fromkeys(build.module for build in builds))
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{'module' if len(names) == 1 else 'modules'} {shown}"
