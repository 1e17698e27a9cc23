"""Starts the server as a child with exactly the planned environment and nothing of ours: no signal mask, no ignored
signals, no open files, no controlling terminal.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from launcher import findings
from launcher.capture.channels import channel
from launcher.model import Finding, Limit, Plan


@dataclass(frozen=True)
class Leader:
    """The server's first process and our ends of its pipes."""

    pid: int
    stdout: int
    stderr: int


def spawn(plan: Plan, env: Mapping[str, str], cgroup: Path | None) -> Leader | Finding:
    """The running leader, or why it could not be started."""
    out_read, out_write = channel(plan.logging.terminal)
    err_read, err_write = channel(plan.logging.terminal)
    try:
        child = subprocess.Popen(
            plan.argv,
            stdin=subprocess.DEVNULL,
            stdout=out_write,
            stderr=err_write,
            cwd=plan.cwd,
            env=dict(env),
            # A session of its own: a terminal's Ctrl-C reaches us alone, and we stop the server in order.
            start_new_session=True,
            preexec_fn=lambda: _in_the_child(plan.limits, cgroup),  # noqa: PLW1509 - we have no threads yet
        )
    except (OSError, subprocess.SubprocessError) as error:
        os.close(out_read)
        os.close(err_read)
        return cannot_start(plan, error)
    finally:
        os.close(out_write)
        os.close(err_write)
    child.returncode = 0  # we reap it ourselves, with whatever else becomes our child
    return Leader(child.pid, out_read, err_read)


def cannot_start(plan: Plan, error: Exception) -> Finding:
    """127 for a missing program, 126 for one that cannot be executed; a bad working folder is told apart."""
    program = plan.argv[0]
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        if error.filename == plan.cwd and not Path(plan.cwd).is_dir():
            return findings.error(
                "cwd-missing", f"The working folder {plan.cwd} is not there, or no folder.", fix="Correct cwd."
            )
        interpreter = missing_interpreter(shutil.which(program, mode=os.F_OK, path=plan.env.get("PATH", "")))
        if interpreter:
            return findings.error(
                "interpreter-missing",
                f"{program} names {interpreter} in its first line, which does not exist.",
                fix="Make the virtual environment anew: it was moved, or its Python was removed.",
            )
        return findings.error(
            "program-missing",
            f"{program} was not found on {plan.env.get('PATH', '')}.",
            fix="Correct the target or the command; env.path adds folders.",
        )
    reason = error.strerror if isinstance(error, OSError) else str(error)
    if isinstance(error, PermissionError) and error.filename == plan.cwd and not os.access(plan.cwd, os.X_OK):
        fix = "Let this user enter it, or set cwd."
        return findings.error("cwd-forbidden", f"The working folder {plan.cwd} cannot be entered: {reason}.", fix=fix)
    fix = "Check its mode, its architecture and the interpreter in its first line."
    return findings.error("program-not-executable", f"{program} cannot be executed: {reason}.", fix=fix)


def missing_interpreter(program: str | None) -> str | None:
    """What a script's first line names and is not there: exec(2) then says "not found" of a script that exists."""
    try:
        with open(program or "", "rb") as file:  # noqa: PTH123
            first = file.readline(256)
    except OSError:
        return None
    words = first.removeprefix(b"#!").split() if first.startswith(b"#!") else []
    named = os.fsdecode(words[0]) if words else ""
    return named if named and not Path(named).exists() else None


def _in_the_child(limits: tuple[Limit, ...], cgroup: Path | None) -> None:
    """Runs between fork and exec, before we have any thread."""
    if cgroup is not None:
        with contextlib.suppress(OSError):  # a server outside its cgroup is better than none: there are other ways
            (cgroup / "cgroup.procs").write_text("0")
    set_limits(limits)
    reset_signals()


def set_limits(limits: tuple[Limit, ...]) -> None:
    """Soft limits of the plan; what the system refuses stays as it was."""
    for limit in limits:
        number = getattr(resource, f"RLIMIT_{limit.name}", None)
        if number is None:
            continue
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(number)
            soft = resource.RLIM_INFINITY if limit.soft == -1 else limit.soft
            if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft > hard):
                soft = hard
            resource.setrlimit(number, (soft, hard))


def reset_signals() -> None:
    """Default dispositions, empty mask: Python ignores SIGPIPE, a tmux pane TTIN and TTOU, `cmd &` INT and QUIT."""
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
