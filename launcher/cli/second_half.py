"""The second half of a launch: supervise, write down how it ended, say so.

It knows the plan and nothing of how it was made: no profile, no facts. `afresh` runs it in an interpreter that has
never planned anything.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from launcher.cli.early import Stopped
from launcher.cli.screen import Screen
from launcher.errors import INTERRUPTED, Refused
from launcher.hosts import HOSTS
from launcher.instances import Claim
from launcher.model import Outcome, Plan
from launcher.report import launch as launch_report
from launcher.report.masking import masked_outcome
from launcher.runs import Run
from launcher.secrets import mask


@dataclass(frozen=True, kw_only=True)
class SecondHalf:
    """All that it needs. Whoever runs it holds the claim, and lets go of it afterwards."""

    host: str
    plan: Plan
    run: Run
    claim: Claim

    def carry_out(self, environ: Mapping[str, str], screen: Screen) -> int:
        """The exit code of the launch. `environ`: of whoever called us."""
        say = _discreet(screen, self.plan)
        with telling_why_not(self.run, self.plan):
            outcome = HOSTS[self.host].carry_out(self.plan, self.run, environ=environ, say=say)
        shown = masked_outcome(outcome, self.plan.secrets)
        self.run.close(shown)
        screen.tell(launch_report.outcome(shown))
        return outcome.exit_code


@contextlib.contextmanager
def telling_why_not(run: Run, plan: Plan) -> Iterator[None]:
    """The run's folder says how it ended, also where nothing was started."""
    try:
        yield
    except Refused as refused:
        run.close(masked_outcome(_not_started(str(refused), refused.exit_code), plan.secrets))
        raise
    except (Stopped, KeyboardInterrupt) as stop:
        code = stop.exit_code if isinstance(stop, Stopped) else INTERRUPTED
        run.close(_not_started("stopped before the start", code, requested=True))
        raise


def _not_started(cause: str, exit_code: int, *, requested: bool = False) -> Outcome:
    return Outcome(
        exit_code=exit_code,
        cause=cause,
        origin="launcher",
        child="not started",
        requested=requested,
        ready=False,
    )


def _discreet(screen: Screen, plan: Plan) -> Callable[[str], None]:
    """Says what a host has to say, without the secrets of the plan."""
    return lambda sentence: screen.say(mask(sentence, plan.secrets))
