"""Is a server that loads still at it? Its log is one sign; without a word it may read weights or compile for minutes.

Processor time alone is no sign: ranks that wait for each other spin. Bytes read are, and so is a compiler at work
(sgl-project/sglang#8232: a watchdog ended a server during a long compile).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

_A_READ = 1 << 20  # bytes: less is what an event loop reads while it waits
_LONGEST_PAUSE = 5.0  # seconds between looks
_LOOKS = 10  # looks within one stall, at least
_COMPILERS = ("nvcc", "cicc", "ptxas", "cudafe++", "fatbinary", "nvlink", "cc1plus", "ninja", "ld", "cargo", "rustc")


@dataclass(frozen=True)
class Work:
    """What its processes did so far: bytes read, and clock ticks of compilers among them."""

    read: int = 0
    compiled: int = 0


def moved(before: Work, now: Work) -> bool:
    """True if that is progress. Processes that ended took their numbers along: less is a change, too."""
    return now.read - before.read >= _A_READ or now.read < before.read or now.compiled != before.compiled


def look(pids: Iterable[int]) -> Work:
    """The work of these processes, as far as this user may see it."""
    read = compiled = 0
    for pid in pids:
        read += _bytes_read(pid)
        compiled += _compiler_ticks(pid)
    return Work(read, compiled)


def _bytes_read(pid: int) -> int:
    """By read(2) and by page faults: mapped weights come in by the second way (proc_pid_io(5))."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    numbers = dict(line.split(": ") for line in lines)
    return int(numbers["rchar"]) + int(numbers["read_bytes"])


def _compiler_ticks(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    name, _, rest = text.partition(b"(")[2].rpartition(b") ")
    fields = rest.split()
    return int(fields[11]) + int(fields[12]) if os.fsdecode(name) in _COMPILERS else 0


class Loading:
    """Calls `stuck` once, from its own thread, when neither the log nor the work moved for `stall` seconds.

    `spoke_at` is when the log last grew (monotonic seconds), `pids` are the server's processes now.
    """

    def __init__(
        self,
        stall: float,
        pids: Callable[[], Iterable[int]],
        spoke_at: Callable[[], float],
        stuck: Callable[[str], None],
    ) -> None:
        self._stall = stall
        self._pids = pids
        self._spoke_at = spoke_at
        self._stuck = stuck
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="loading", daemon=True).start()

    def stop(self) -> None:
        """It is ready, or gone."""
        self._stopped.set()

    def _run(self) -> None:
        worked, worked_at = Work(), time.monotonic()
        while not self._stopped.wait(min(_LONGEST_PAUSE, self._stall / _LOOKS)):
            work, at = look(self._pids()), time.monotonic()
            if moved(worked, work):
                worked, worked_at = work, at
            idle = at - max(worked_at, self._spoke_at())
            if idle >= self._stall and not self._stopped.is_set():
                self._stuck(f"no progress while it loads: no word, no byte read and no compiler for {idle:.0f} s")
                return
