"""The Outcome: what is said of a run when nothing of it is left."""

from __future__ import annotations

from collections.abc import Sequence

from launcher import errors
from launcher.model import Outcome
from launcher.runs import Run
from launcher.supervise import outcomes
from launcher.supervise.attempt import Attempt
from launcher.supervise.outcomes import Ending
from launcher.supervise.processes import Process

_LAST_LINES = 10


def outcome(last: Attempt, ending: Ending, run: Run, *, beyond: Sequence[Process], swept: int) -> Outcome:
    """Of the last start. `beyond` are processes that no KILL ended: with them no end is a success; `swept` counts those
    that had to be ended after their leader.
    """
    cause, conclusion = ending.cause, None if ending.asked else last.conclusion
    if beyond:
        cause += f"; beyond reach: {', '.join(str(process.pid) for process in beyond)}"
    return Outcome(
        exit_code=errors.FAILED if beyond and ending.exit_code == errors.OK else ending.exit_code,
        cause=cause,
        origin="child" if ending.of_child else "launcher",
        child="not started" if last.refused else outcomes.describe_child(last.wait_status),
        requested=ending.asked,
        ready=last.ready_at is not None,
        run_folder=str(run.folder) if run.folder else None,
        log=str(run.log_path) if run.log_path else None,
        last_lines=last.capture.last_lines(_LAST_LINES) if last.capture else (),
        swept=swept,
        attempts=last.number,
        fix=conclusion.fix if conclusion else None,
        failure=conclusion.failure.value if conclusion else None,
    )
