"""Starts the guard, tells it which processes belong to the run, and says farewell. Never raises, never waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from launcher.supervise.guard import FAREWELL, telling
from launcher.supervise.processes import Process

_PACKAGE = Path(__file__).resolve().parent.parent

# Without site-packages our own package must be named; nothing of it but the guard and what it needs is imported.
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from launcher.supervise import guard; guard.main(*sys.argv[2:])"


class Guard:
    """One guard process. If it dies first, another one is started with the next telling."""

    def __init__(self, run_id: str, cgroup: str | None) -> None:
        self._arguments = (run_id, cgroup or "")
        self._told: tuple[Process, ...] | None = None
        self._unsent = b""
        self._child = self._start()

    @property
    def pid(self) -> int | None:
        """The guard's process, which is a child of ours but none of the server's."""
        return self._child.pid if self._child else None

    def tell(self, processes: Iterable[Process]) -> None:
        """What belongs to the run now; cheap where nothing changed."""
        if self._child is None:
            self._child, self._told, self._unsent = self._start(), None, b""
        current = tuple(sorted(processes))
        # A guard that is stopped does not read: it is told later, rather than that anybody waits for it.
        if self._flush() and current != self._told:
            self._told, self._unsent = current, telling(current)
            self._flush()

    def reaped(self, pid: int) -> None:
        """Our main loop collected this child: remember it if it was the guard."""
        if self._child is not None and pid == self._child.pid:
            self._child.returncode = -1
            self._let_go()

    def farewell(self) -> None:
        """The run is over: the guard ends without a look. Waits for it, so that a unit's cgroup is empty at once."""
        if self._child is None:
            return
        self._unsent += FAREWELL
        child, heard = self._child, self._flush()
        self._let_go()
        try:
            child.wait(5 if heard else 0)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def give_up(self) -> None:
        """Something went wrong with us: the guard shall end the run now."""
        self._let_go()

    def _start(self) -> subprocess.Popen[bytes] | None:
        """None where no process can be made at the moment: the next telling tries again."""
        try:
            # A session of its own: a terminal's signals are not for it. -I -S: nothing but the standard library.
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, str(_PACKAGE.parent), *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                start_new_session=True,
            )
        except OSError:
            return None
        assert child.stdin is not None
        os.set_blocking(child.stdin.fileno(), False)
        return child

    def _flush(self) -> bool:
        """True if nothing is left to be told."""
        if self._child is None or self._child.stdin is None:
            return False
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._child.stdin.fileno(), self._unsent) :]
        except OSError:  # full, or closed: then we reap it soon
            return False
        return True

    def _let_go(self) -> None:
        """Closes the pipe; whether the guard then acts depends on its last words."""
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()
        self._child = None
