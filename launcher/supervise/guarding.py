"""Starts the guard, tells it which processes belong to the run, and says farewell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from launcher.supervise.processes import Process

_PACKAGE = Path(__file__).resolve().parent.parent


# Without site-packages our own package must be named; nothing of it but the guard and `processes` is imported.
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from launcher.supervise import guard; sys.exit(guard.main())"


class Guard:
    """One guard process. If it dies first, another one is started with the next telling."""

    def __init__(self, mark: str, cgroup: str | None) -> None:
        self._mark = mark
        self._cgroup = cgroup
        self._told: tuple[Process, ...] | None = None
        self._child = self._start()

    @property
    def pid(self) -> int:
        """The guard's process, which is a child of ours but none of the server's."""
        return self._child.pid

    def tell(self, processes: Iterable[Process]) -> None:
        """What belongs to the run now; cheap where nothing changed."""
        current = tuple(sorted(processes))
        if current == self._told and self._child.returncode is None:
            return
        line = json.dumps({"mark": self._mark, "cgroup": self._cgroup, "processes": current}) + "\n"
        if self._write(line):
            self._told = current
        else:
            self._child = self._start()
            self._told = current if self._write(line) else None

    def reaped(self, pid: int) -> None:
        """Our main loop collected this child: remember it if it was the guard."""
        if pid == self._child.pid:
            self._child.returncode = -1
            self._told = None

    def farewell(self) -> None:
        """The run is over: the guard ends without a look. Waits for it, so that a unit's cgroup is empty at once."""
        if self._child.returncode is not None:
            return
        self._write("farewell\n")
        self._close()
        try:
            self._child.wait(5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        # A session of its own: a terminal's signals are not for it. -I -S: nothing but the standard library.
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOT, str(_PACKAGE.parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )

    def _write(self, line: str) -> bool:
        if self._child.stdin is None or self._child.returncode is not None:
            return False
        try:
            os.write(self._child.stdin.fileno(), line.encode())
        except OSError:
            return False
        return True

    def _close(self) -> None:
        if self._child.stdin is not None:
            self._child.stdin.close()
