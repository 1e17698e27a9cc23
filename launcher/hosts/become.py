"""--exec: our process becomes the server. Whoever starts us supervises it; nothing of ours stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from launcher import findings
from launcher.errors import Refused
from launcher.model import Outcome, Plan
from launcher.runs import Run
from launcher.supervise import processes
from launcher.supervise.spawn import cannot_start, reset_signals, set_limits


def carry_out(plan: Plan, run: Run, *, environ: Mapping[str, str], say: Callable[[str], None]) -> Outcome:
    """Does not return. Raises Refused under a unit that waits for READY=1, and where the program cannot be executed."""
    if environ.get("NOTIFY_SOCKET"):
        what = "With --exec nobody would tell systemd that the server is ready, and Type=notify waits for it."
        fix = "Leave --exec out: gpulaunch stays as the unit's main process; or use Type=exec."
        raise Refused([findings.error("exec-with-notify", what, fix=fix)])
    say("becoming the server: no readiness, no log of ours, no restart, no sweep of what it leaves behind")
    run.event("exec", argv0=plan.argv[0])
    itself = processes.identify(os.getpid())
    if itself is not None:
        run.record_processes(itself, itself, [itself])  # pid and start time outlive exec: `gpulaunch stop` finds it
    env = {**plan.env, **run.marks}
    try:
        os.chdir(plan.cwd)
        set_limits(plan.limits)
        reset_signals()
        os.execvpe(plan.argv[0], list(plan.argv), env)
    except OSError as error:
        raise Refused([cannot_start(plan, error)]) from None
