"""Tries every claim: those about the machine one by one, then the launches side by side, as most of each is waiting.

All of it happens below one temporary folder; while it runs, this process is a child sub-reaper, so that whoever is left
of it, by whatever way, is found at the end, named and ended.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from launcher.selftest import launches, machine
from launcher.selftest.claim import Claim, Failed, Told, Verdict
from launcher.selftest.trial import Launching
from launcher.supervise import processes
from launcher.supervise.family import become_subreaper
from launcher.supervise.naming import command_of
from launcher.supervise.processes import Process
from launcher.undisturbed import undisturbed

_AT_ONCE = 3  # launches
_PAUSE = 0.02  # seconds between looks
_LAST_LOOK = 5.0  # seconds for what is ending already


def run(launching: Launching) -> Generator[Verdict, None, None]:
    """Each verdict as soon as it and those before it are there. Nothing is left behind, also after an exception."""
    become_subreaper()
    before = set(processes.descendants([os.getpid()]))
    with tempfile.TemporaryDirectory(prefix="gpulaunch-selftest-", ignore_cleanup_errors=True) as folder:
        try:
            yield from map(tried, machine.claims())
            yield from _launches(Path(folder).resolve(), launching, before)
            yield tried(Claim("nothing-left", "nothing of all this is left", lambda: _nothing_left(before)))
        finally:
            with undisturbed():
                _end(before)


def _launches(folder: Path, launching: Launching, before: set[Process]) -> Iterator[Verdict]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        futures = [pool.submit(tried, claim) for claim in launches.claims(folder, launching)]
        try:
            for future in futures:
                yield future.result()
        finally:
            with undisturbed():
                for future in futures:
                    future.cancel()
                # Only after an exception, a Ctrl-C: whoever waits for a launch sees it end, and starts no other.
                while wait(futures, timeout=0.1).not_done:
                    _end(before)


def tried(claim: Claim) -> Verdict:
    """Carries it out; an exception is a failure."""
    begin = time.monotonic()
    try:
        told = claim.tried()
    except Failed as failed:
        told = Told("failed", str(failed))
    except Exception as error:  # whatever goes wrong here would go wrong in a launch
        told = Told("failed", f"{type(error).__name__}: {error}")
    return Verdict(claim, told, time.monotonic() - begin)


def _nothing_left(before: set[Process]) -> Told:
    until = time.monotonic() + _LAST_LOOK
    while (left := _ours(before)) and time.monotonic() < until:
        time.sleep(_PAUSE)
    if left:
        names = ", ".join(f"{process.pid} ({command_of(process.pid)})" for process in left)
        return Told("failed", f"still alive, now ended: {names}")
    return Told("ok", "no process, and no file outside a temporary folder that is removed")


def _ours(before: set[Process]) -> list[Process]:
    return [process for process in processes.descendants([os.getpid()]) if process not in before]


def _end(before: set[Process]) -> None:
    """Ends whoever is left."""
    until = time.monotonic() + _LAST_LOOK
    while (left := _ours(before)) and time.monotonic() < until:
        for process in left:
            processes.send(process, signal.SIGKILL)
        time.sleep(_PAUSE)
