"""Becomes another command inside a planned environment, as env(1) does: same process, same folder, same streams."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from launcher import findings
from launcher.errors import Refused
from launcher.model import Finding, Limit
from launcher.supervise.spawn import set_limits


def become(words: Sequence[str], env: Mapping[str, str], limits: tuple[Limit, ...]) -> int:
    """Returns only by Refused: 127 for a command that is not there, 126 for one that the kernel does not run."""
    program = find(words[0], env.get("PATH", ""))
    sys.stdout.flush()
    sys.stderr.flush()
    set_limits(limits)
    # Python ignores these for itself; a command that inherits that never hears that its reader is gone. All else stays
    # as the caller has it: nohup's ignored SIGHUP too.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execve(program, list(words), dict(env))
    except FileNotFoundError:
        # Also a script whose interpreter is missing: the kernel says the same of both.
        there = Path(program).exists()
        missing = f"the interpreter in the first line of {program} is missing" if there else f"there is no {program}"
        raise Refused([findings.error("command-not-found", f"Not run: {missing}.")]) from None
    except OSError as error:
        raise Refused([_not_executable(program, error.strerror)]) from None


def find(name: str, path: str) -> str:
    """The program that a name means on this PATH; one with a slash means itself."""
    if "/" in name:
        return name
    found = [str(Path(folder, name)) for folder in path.split(":") if Path(folder, name).is_file()]
    runnable = [program for program in found if os.access(program, os.X_OK)]
    if runnable:
        return runnable[0]
    if found:
        raise Refused([_not_executable(found[0], "it has no x bit for this user")])
    missing, fix = f"Not run: there is no {name} on the planned PATH ({path}).", "Name it by its path, or add env.path."
    raise Refused([findings.error("command-not-found", missing, fix=fix)])


def _not_executable(program: str, because: str | None) -> Finding:
    return findings.error(
        "command-not-executable", f"Not run: {program}: {because}.", fix=f"chmod +x {program}, or name its interpreter."
    )
