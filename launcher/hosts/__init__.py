"""Where and how a plan is carried out: one file each, and the table of them.

To add one: a module that satisfies `Host`, one line in `HOSTS`, one test file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from launcher.hosts import become, here
from launcher.model import Outcome, Plan
from launcher.runs import Run

Say = Callable[[str], None]


class Host(Protocol):
    """One way to run a server."""

    def carry_out(self, plan: Plan, run: Run, *, environ: Mapping[str, str], say: Say) -> Outcome:
        """Runs the plan and tells how it ended, or does not return because it has become the server."""


HOSTS: dict[str, Host] = {
    "here": here,
    "become": become,
}
