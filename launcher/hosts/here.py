"""In the foreground: the server is a child that we supervise. Works in a shell, a tmux pane, a container and a unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from launcher.model import Outcome, Plan
from launcher.runs import Run
from launcher.supervise.supervisor import Supervisor


def carry_out(plan: Plan, run: Run, *, environ: Mapping[str, str], say: Callable[[str], None]) -> Outcome:
    """Returns when nothing of the server is left."""
    return Supervisor(plan, run, environ, say).supervise()
