"""Compile caches that a server died of are moved aside, once, before it is started again. Nothing is deleted.

Only folders that gpulaunch made for the server, and only where no other process works with the same one.
"""

from __future__ import annotations

from launcher.caches import CACHES
from launcher.errors import Refused
from launcher.model import Plan, Step
from launcher.prepare import carry_out_steps
from launcher.supervise import processes

_BECAUSE = "the server ended of what was compiled here"


def folders(plan: Plan) -> tuple[str, ...]:
    """The compile caches that this plan makes for its server. Pure."""
    variables = {cache.variable for cache in CACHES}
    named = {value for name, value in plan.env.items() if name in variables}
    return tuple(step.path for step in plan.prepare if step.action == "folder" and step.path in named)


def others_use(plan: Plan) -> bool:
    """True if a living process has one of them in its environment; call it when nothing of the server is left."""
    mine = set(folders(plan))
    entries = [f"{name}={value}".encode() for name, value in plan.env.items() if value in mine]
    return any(processes.marked(entry) for entry in entries)


def move_aside(plan: Plan) -> str:
    """Moves them aside and makes new ones. What was done or what was in the way, as a sentence."""
    mine = folders(plan)
    aside = [Step(action="move-aside", path=path, because=_BECAUSE) for path in mine]
    anew = [step for step in plan.prepare if step.action == "folder" and step.path in mine]
    try:
        carry_out_steps((*aside, *anew))
    except Refused as refused:
        return f"compile caches could not be moved aside: {refused}"
    return f"compile caches moved aside, into a folder beside each: {', '.join(mine)}"
