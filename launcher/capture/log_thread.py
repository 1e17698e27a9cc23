"""Writes the log in a thread of its own: a disk that is slow is waited for, one that hangs makes nobody wait.

What comes while it hangs is dropped beyond a bound, and counted: the server's pipes are read on in any case.
"""

from __future__ import annotations

import threading
import time
from collections import deque

from launcher.capture.records import Stream
from launcher.capture.run_log import RunLog
from launcher.capture.terminal import Say
from launcher.model import Logging
from launcher.runs import Run

BEHIND = 2 << 20  # bytes that wait for the disk
HANGS = 3.0  # seconds without a byte written after which the disk is not waited for
PATIENCE = 20.0  # the same at the end, when nothing else has to go on


class LogThread:
    """Hand it blocks from any thread; they are written in the order in which they came."""

    def __init__(self, log: RunLog, say: Say, hangs: float = HANGS) -> None:
        self._log = log
        self._say = say
        self._hangs = hangs
        self._blocks: deque[tuple[bytes, Stream, float]] = deque()
        self._behind = 0
        self._dropped = 0  # bytes, after all the blocks that wait
        self._told = False
        self._closing = False
        self._moved_at = time.monotonic()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    @property
    def behind(self) -> int:
        """Bytes that wait for the disk, without the marks that they will have."""
        return self._behind

    def put(self, block: bytes, stream: Stream, at: float) -> None:
        """Whole lines of a stream; `at` in seconds since the epoch. Waits while the disk is only slow."""
        with self._changed:
            while self._dropped or (self._behind and self._behind + len(block) > BEHIND):
                rest = self._moved_at + self._hangs - time.monotonic()
                if rest <= 0:
                    self._drop(len(block))
                    return
                self._changed.wait(rest)
            if not self._behind:
                self._moved_at = time.monotonic()
            self._blocks.append((block, stream, at))
            self._behind += len(block)
            self._changed.notify_all()

    def note(self, sentence: str) -> None:
        """A line of our own."""
        self.put(sentence.encode() + b"\n", "gpulaunch", time.time())

    def close(self, patience: float = PATIENCE) -> None:
        """Waits until everything is written, as long as the disk goes on."""
        with self._changed:
            self._closing, self._moved_at = True, time.monotonic()
            self._changed.notify_all()
        while self._thread.is_alive() and (rest := self._moved_at + patience - time.monotonic()) > 0:
            self._thread.join(rest)
        if self._thread.is_alive():
            self._say(f"the log's disk does not answer: at least {self._behind} bytes are missing in the log")

    def _drop(self, count: int) -> None:
        self._dropped += count
        if not self._told:
            self._told = True
            self._say("the log's disk does not answer: the server goes on, and what cannot be kept is counted")

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._blocks and not self._closing and not self._dropped:
                    self._changed.wait()
                block = self._blocks.popleft() if self._blocks else None
                dropped = 0
                if block is None:
                    dropped, self._dropped = self._dropped, 0
                    if not dropped:
                        break
            if block is not None:
                self._log.put(*block)
            else:
                self._log.lose(dropped)
            with self._changed:
                self._moved_at = time.monotonic()
                self._told = self._told and bool(self._dropped)
                self._behind -= len(block[0]) if block is not None else 0
                self._changed.notify_all()
        self._log.close()


def open_log(run: Run, options: Logging, say: Say) -> LogThread | None:
    """The log of a run, or None where nothing can be kept."""
    try:
        return LogThread(RunLog(run.log_path, options, say), say) if run.log_path else None
    except OSError:
        return None
