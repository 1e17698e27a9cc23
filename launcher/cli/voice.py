"""Our own words on standard error: they never make anybody wait, and never fail, whatever became of the terminal.

A supervisor that blocks in a write to a paused terminal (Ctrl-S, tmux's copy mode) would hear no signal, and one that
dies of a closed pane would leave its server behind. Usually a line is written at once; only where the terminal does not
take it, a thread waits for it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
import threading

STANDARD_ERROR = 2


class Voice:
    """Writes texts in order to a file descriptor."""

    def __init__(self, descriptor: int = STANDARD_ERROR) -> None:
        self._descriptor = descriptor
        self._late: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def say(self, text: str) -> None:
        """Returns at once. Bytes of an odd locale are written as they came."""
        said = text.encode(errors="surrogateescape")
        with self._lock:
            if self._thread is None and self._takes():
                self._write(said)
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._catch_up, name="voice", daemon=True)
                self._thread.start()
            self._late.put(said)

    @property
    def is_late(self) -> bool:
        """True once something could not be written at once."""
        return self._thread is not None

    def close(self, patience: float) -> None:
        """Gives a slow terminal so many seconds for what is left."""
        if self._thread is not None:
            self._late.put(None)
            self._thread.join(patience)

    def _takes(self) -> bool:
        """True if a line can be written without waiting, or can never be."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLOUT)
        return bool(poll.poll(0))

    def _catch_up(self) -> None:
        # Signals are read in the main thread: one that came here would end us by its default action.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while (said := self._late.get()) is not None:
            self._write(said)

    def _write(self, said: bytes) -> None:
        rest = memoryview(said)
        with contextlib.suppress(OSError):
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
