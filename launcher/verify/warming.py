"""Compiles in the target what a server will need, and hands on what happens as it happens.

The compilers are ended with us, however we end: they have a session of their own.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from launcher import probes
from launcher.model import Plan
from launcher.secrets import mask

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Warmed:
    """What happened to a module: begun, built, there, prebuilt, skipped, failed. `module` empty: to all of it."""

    module: str
    state: str
    because: str = ""


def warm(plan: Plan, model: str, modules: Sequence[str]) -> Iterator[Warmed]:
    """Each event. The plan's steps must have been carried out."""
    assert plan.target is not None and plan.target.python is not None
    script = Path(probes.__file__).with_name("warm_flashinfer.py")
    env = {name: value for name, value in plan.env.items() if name != "PYTHONSAFEPATH"}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [plan.target.python, "-B", str(script), model, *modules],
            env=env,
            cwd=plan.cwd if Path(plan.cwd).is_dir() else "/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
            preexec_fn=_ends_with_us(),  # noqa: PLW1509 - it calls a function of the system
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                event = parse(line)
                if event is not None:
                    yield Warmed(event.module, event.state, mask(event.because, plan.secrets))
            code = process.wait()
        finally:
            _end(process)
        if code not in (0, 1):
            said.seek(0)
            yield Warmed("", "failed", mask(_last(said.read().decode("utf-8", "replace"), code), plan.secrets))


def parse(line: bytes) -> Warmed | None:
    """One line of the script's; None for anything that a library prints. Pure."""
    try:
        said = json.loads(line)
        return Warmed(str(said["module"]), str(said["state"]), str(said["because"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def telling(text: str) -> str:
    """Of what a compiler said, the first line that speaks of an error. Pure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    words = ("error:", "fatal", "cannot find", "not found", "No such file", "undefined reference", "Killed")
    return next((line for line in lines if any(word in line for word in words)), lines[-1] if lines else "nothing said")


def _last(text: str, code: int) -> str:
    how = f"it ended with {code}" if code > 0 else f"it was killed by signal {-code}"
    lines = text.strip().splitlines()
    return f"{how}: {lines[-1].strip()}" if lines else how


def _ends_with_us() -> Callable[[], None]:
    libc = ctypes.CDLL(None)

    def in_the_child() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    return in_the_child


def _end(process: subprocess.Popen[bytes]) -> None:
    """Whatever is left of the session's group; the leader is not reaped before, so that its number is still its own."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
