"""Could the program be started as it stands? Asked before the start, so that a dry run says what a launch would say."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from launcher.model import Finding, Plan
from launcher.supervise.spawn import cannot_start, missing_interpreter


def start_findings(plan: Plan) -> tuple[Finding, ...]:
    """Errors for a working folder that cannot be entered and a program by path that is missing or not executable.

    A program without a path is looked up while planning, on the planned PATH; a target that is wrong has its finding.
    """
    return tuple(_problems(plan))


def _problems(plan: Plan) -> Iterator[Finding]:
    folder, program = Path(plan.cwd), Path(plan.argv[0])
    if not folder.is_dir():
        yield cannot_start(plan, FileNotFoundError(0, "", plan.cwd))
    elif not os.access(folder, os.X_OK):
        yield cannot_start(plan, PermissionError(0, os.strerror(errno.EACCES), plan.cwd))
    elif program.is_absolute() and not any(finding.code.startswith("target-") for finding in plan.findings):
        if not program.exists():
            yield cannot_start(plan, FileNotFoundError(0, "", plan.argv[0]))
        elif program.is_dir() or not os.access(program, os.X_OK):
            yield cannot_start(plan, PermissionError(0, os.strerror(errno.EACCES), plan.argv[0]))
        elif missing_interpreter(plan.argv[0]):
            yield cannot_start(plan, FileNotFoundError(0, "", plan.argv[0]))
