"""Runs a few short programs of the target at once, each with a time limit, and leaves none of them behind.

They get a session of their own, so that whatever they start is ended with them; no signal of ours can come between the
start of one and our knowing of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from launcher.undisturbed import undisturbed

_PR_SET_PDEATHSIG = 1
_KEPT = 65536  # bytes of each stream


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command line with its environment and working folder."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a job ended. `code` None: it took too long, or could not be started; `trouble` says so."""

    code: int | None
    out: str = ""
    err: str = ""
    trouble: str = ""


@dataclass(frozen=True)
class _Running:
    process: subprocess.Popen[bytes]
    handle: int
    out: IO[bytes]
    err: IO[bytes]
    deadline: float


def run_all(jobs: Sequence[Job], *, at_once: int, patience: float) -> tuple[Ended, ...]:
    """Every job's end, in the order of the jobs. `patience` in seconds for each."""
    ended: dict[int, Ended] = {}
    running: dict[int, _Running] = {}
    waiting = list(range(len(jobs)))
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                number = waiting.pop(0)
                with undisturbed():
                    started = _start(jobs[number], patience)
                    if isinstance(started, _Running):
                        running[number] = started
                    else:
                        ended[number] = started
            for number in _over(running):
                ended[number] = _end(running.pop(number), patience)
    finally:
        with undisturbed():
            for one in running.values():
                _end(one, patience)
    return tuple(ended[number] for number in range(len(jobs)))


def _start(job: Job, patience: float) -> _Running | Ended:
    libc = ctypes.CDLL(None)
    with contextlib.ExitStack() as opened:
        try:
            out, err = (opened.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            process = subprocess.Popen(
                job.words,
                env=dict(job.env),
                cwd=job.cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=lambda: _in_the_child(libc),  # noqa: PLW1509 - it calls two functions of the system
            )
        except (OSError, subprocess.SubprocessError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return Ended(code=None, trouble=f"{job.words[0]} cannot be run: {reason}")
        opened.callback(process.kill)
        running = _Running(process, os.pidfd_open(process.pid), out, err, time.monotonic() + patience)
        opened.pop_all()
        return running


def _in_the_child(libc: ctypes.CDLL) -> None:
    """Ends with us, even if we are killed; hears signals again."""
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _over(running: Mapping[int, _Running]) -> list[int]:
    """Those that have ended or may not go on; waits for the first."""
    if not running:
        return []
    poll = select.poll()
    for one in running.values():
        poll.register(one.handle, select.POLLIN)
    left = min(one.deadline for one in running.values()) - time.monotonic()
    ready = {handle for handle, _ in poll.poll(max(0.0, left) * 1000)}
    now = time.monotonic()
    return [number for number, one in running.items() if one.handle in ready or one.deadline <= now]


def _end(one: _Running, patience: float) -> Ended:
    """Ends what is left of its session's group; it is not reaped before, so that its number is still its own."""
    is_over = bool(select.select([one.handle], [], [], 0)[0])
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(one.process.pid, signal.SIGKILL)
    code = one.process.wait()
    os.close(one.handle)
    out, err = _text(one.out), _text(one.err)
    if not is_over:
        return Ended(code=None, out=out, err=err, trouble=f"no answer within {patience:g} s")
    return Ended(code=code, out=out, err=err)


def _text(stream: IO[bytes]) -> str:
    """The end of what was written."""
    with stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _KEPT))
        return stream.read().decode("utf-8", "replace")
