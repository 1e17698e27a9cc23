"""How the server will be watched from its start to its end, as the plan has it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from launcher.model import Plan, Readiness


def life_facts(plan: Plan) -> Iterator[tuple[str, str]]:
    """Names and what is to be said of each."""
    yield "ready", _ready(plan.ready) if plan.ready else "as soon as it runs (ready: none)"
    if plan.live is not None:
        idle = ", or when it is idle and gives none in that time" if plan.live.generate else ""
        yield "live", f"ended when requests run and no token comes for {plan.live.stall:g} s{idle}"
    if plan.restarts.left_to:
        yield "restart", plan.restarts.left_to
    elif plan.restarts.policy == "on-failure":
        yield (
            "restart",
            f"after a failure that may heal, {plan.restarts.max} times, the first {plan.restarts.delay:g} s later",
        )
    yield "stop", f"SIGTERM, {plan.grace:g} s later the end of whatever is left"


def _ready(ready: Readiness) -> str:
    text = f"when {ready.url} answers{' and it gives a token' if ready.generate else ''}"
    text += f", at most after {ready.timeout:g} s" if ready.timeout else ""
    return text + (f"; ended after {ready.stall:g} s without progress" if ready.stall else "")
