"""Writes the log in a thread of its own: a disk that is slow is waited for, one that hangs makes nobody wait.

What comes while it hangs is dropped beyond a bound, and counted: the server's pipes are read on in any case.
"""

from __future__ import annotations

import threading
import time
from collections import deque

from launcher.capture.records import Part, Stream
from launcher.capture.run_log import MOST_PARTS, RunLog
from launcher.capture.terminal import Say
from launcher.model import Logging
from launcher.runs import Run

BEHIND = 1 << 20  # bytes that wait for the disk
ENOUGH = 1 << 19  # bytes for which the thread is woken, and after which it takes no more for one write
HANGS = 3.0  # seconds without a byte written after which the disk is not waited for
PATIENCE = 20.0  # the same at the end, when nothing else has to go on


class LogThread:
    """Hand it blocks from any thread; they are written in the order in which they came."""

    def __init__(self, log: RunLog, say: Say, hangs: float = HANGS) -> None:
        self._log = log
        self._say = say
        self._hangs = hangs
        self._waiting: deque[tuple[Part, ...]] = deque()  # whole lines with their marks
        self._behind = 0  # bytes that wait, or are being written
        self._dropped = 0  # bytes, after all that waits
        self._told = False
        self._idle = False
        self._closing = False
        self._moved_at = time.monotonic()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    @property
    def behind(self) -> int:
        """Bytes that wait for the disk, with their marks."""
        return self._behind

    def put(self, block: bytes, stream: Stream, at: float, *, more: bool = False) -> None:
        """Whole lines of a stream; `at` in seconds since the epoch. Waits while the disk is only slow.

        With `more` the thread is not woken for a small block: `go_on` follows in a moment.
        """
        parts = self._log.marked(block, stream, at)  # here: two threads of Python would only wait for each other
        size = sum(map(len, parts))
        with self._changed:
            while self._dropped or (self._behind and self._behind + size > BEHIND):
                self._wake()
                rest = self._moved_at + self._hangs - time.monotonic()
                if rest <= 0:
                    self._drop(size)
                    return
                self._changed.wait(rest)
            if not self._behind:
                self._moved_at = time.monotonic()
            self._waiting.append(parts)
            self._behind += size
            if not more or self._behind >= ENOUGH:
                self._wake()

    def go_on(self) -> None:
        """Nothing more comes for the moment, or something has waited long enough."""
        if self._waiting:
            with self._changed:
                self._wake()

    def note(self, sentence: str) -> None:
        """A line of our own."""
        self.put(sentence.encode() + b"\n", "gpulaunch", time.time())

    def close(self, patience: float = PATIENCE) -> None:
        """Waits until everything is written, as long as the disk goes on."""
        with self._changed:
            self._closing, self._moved_at = True, time.monotonic()
            self._wake()
        while self._thread.is_alive() and (rest := self._moved_at + patience - time.monotonic()) > 0:
            self._thread.join(rest)
        if self._thread.is_alive():
            self._say(f"the log's disk does not answer: at least {self._behind} bytes are missing in the log")

    def _wake(self) -> None:
        if self._idle:
            self._changed.notify_all()

    def _drop(self, count: int) -> None:
        self._dropped += count
        if not self._told:
            self._told = True
            self._say("the log's disk does not answer: the server goes on, and what cannot be kept is counted")

    def _run(self) -> None:
        while True:
            parts, dropped = self._next()
            if dropped:
                self._log.lose(dropped)
            elif parts:
                self._log.append(parts)
            else:
                break
            with self._changed:
                self._moved_at = time.monotonic()
                self._told = self._told and bool(self._dropped)
                self._behind -= sum(map(len, parts))
                self._changed.notify_all()
        self._log.close()

    def _next(self) -> tuple[list[Part], int]:
        """What to write, in few calls; or what was dropped, once all before it is written; nothing at the end."""
        with self._changed:
            while not self._waiting and not self._closing and not self._dropped:
                self._idle = True
                self._changed.wait()
            self._idle = False
            parts: list[Part] = []
            size = 0
            while self._waiting and size < ENOUGH and len(parts) < MOST_PARTS:
                block = self._waiting.popleft()
                parts += block
                size += sum(map(len, block))
            dropped = 0
            if not parts:
                dropped, self._dropped = self._dropped, 0
            return parts, dropped


def open_log(run: Run, options: Logging, say: Say) -> LogThread | None:
    """The log of a run, or None where nothing can be kept."""
    try:
        return LogThread(RunLog(run.log_path, options, say), say) if run.log_path else None
    except OSError:
        return None
