"""Asks a program for what it prints of itself: `nvcc --version`, `g++ -dumpversion`, `ldconfig -p`.

A small environment of our own (NVCC_APPEND_FLAGS would change answers), a time limit, a bound on what is kept, and
nothing is left behind: no signal of ours can come between the start of a program and our knowing of it, and one that
does not answer is ended with whatever it started.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from launcher.undisturbed import undisturbed

PATIENCE = 10.0  # seconds
_KEPT = 1 << 20  # bytes: a cache of libraries is large, a version is not
_GLANCE = 0.05  # seconds between two looks at whether it has ended
_ENVIRON = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


@dataclass(frozen=True)
class Answer:
    """`code` is the exit code; None: it could not be started (`error`), or it took too long or said too much."""

    code: int | None
    text: str = ""
    error: OSError | None = None


def ask(words: Sequence[str], *, cwd: str | None = None, with_errors: bool = True) -> Answer:
    """What it prints, standard error included where wished."""
    process: subprocess.Popen[bytes] | None = None
    try:
        with undisturbed():
            process = subprocess.Popen(
                list(words),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if with_errors else subprocess.DEVNULL,
                env=_ENVIRON,
                cwd=cwd,
                start_new_session=True,
            )
        text = _read(process, time.monotonic() + PATIENCE)
        return Answer(process.poll(), text)
    except OSError as error:
        return Answer(None, error=error)
    finally:
        if process is not None:
            _end(process)


def _read(process: subprocess.Popen[bytes], deadline: float) -> str:
    """What it prints until it ends, says too much or takes too long. One that ends is not waited for by what it left in
    the background with our pipe in hand.
    """
    assert process.stdout is not None
    said = bytearray()
    while len(said) < _KEPT and (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([process.stdout], [], [], min(left, _GLANCE))
        if ready:
            part = os.read(process.stdout.fileno(), 65536)
            said += part
            if not part:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(deadline - time.monotonic(), 0))
                break
        elif process.poll() is not None:
            break
    return said.decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """It leads a session of its own, so this reaches what it started."""
    with undisturbed():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()
