"""One of our own streams, written by a thread: whoever reads it may be slow, paused or gone, and nobody waits for that.

What a reader is too far behind to be shown is dropped and counted, and the count is said; the log has all of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import stat
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

Say = Callable[[str], None]

_WAITING = 64 << 20  # bytes that a slow terminal may be behind
_CHUNK_COST = 64  # bytes that the memory of a small chunk costs beside its content
_PIECE = 1 << 16  # bytes in one write: a write that waits does not tell how far it came
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of a file to which the stream was redirected
_STALLED = 2.0  # seconds without a byte after which a reader is not waited for at the end


class Terminal:
    """Standard output or standard error."""

    def __init__(self, descriptor: int, name: str, say: Say) -> None:
        self._descriptor = descriptor
        self._name = name
        self._say = say
        self._chunks: deque[bytes] = deque()
        self._behind = 0
        self._taken = 0
        self._written = 0
        self._lost = 0
        self._moved_at = 0.0
        self._gone = is_null_device(descriptor)  # nobody will ever read it
        self._full = False
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=f"terminal-{name}", daemon=True)
        self._thread.start()

    def put(self, chunk: bytes) -> None:
        """Takes a chunk, or drops it where the reader is too far behind or gone."""
        if self._gone or not chunk:
            return
        with self._changed:
            if self._behind + len(chunk) > _WAITING:
                self._lost += len(chunk)
                return
            self._chunks.append(chunk)
            self._taken += len(chunk)
            self._behind += len(chunk) + _CHUNK_COST
            self._changed.notify()

    def end(self) -> None:
        """Nothing more will come. Does not wait."""
        with self._changed:
            if not self._closing:
                self._closing, self._moved_at = True, time.monotonic()
                self._changed.notify()

    def close(self, until: float) -> None:
        """Waits for the rest to be written as long as somebody reads it, at most until then (monotonic seconds)."""
        self.end()
        while self._thread.is_alive() and (rest := min(until, self._moved_at + _STALLED) - time.monotonic()) > 0:
            self._thread.join(rest)
        with self._changed:
            self._lost += self._taken - self._written
        self._confess()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._chunks and not self._closing:
                    self._changed.wait()
                if not self._chunks:
                    return
                chunk = self._chunks.popleft()
            self._write(chunk)
            with self._changed:
                self._behind -= len(chunk) + _CHUNK_COST
                if self._gone:
                    self._chunks.clear()
                    return
            if not self._chunks and not self._full:
                self._confess()

    def _confess(self) -> None:
        """Says what was not shown, once the reader has caught up or at the end."""
        with self._changed:
            lost, self._lost = self._lost, 0
        if lost and not self._gone:
            self._say(f"{lost} bytes were not shown on {self._name}, which did not take them; the log has them")

    def _write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        while rest:
            try:
                count = os.write(self._descriptor, rest[:_PIECE])
            except BlockingIOError:
                self._wait_until_writable()
            except OSError as error:
                if error.errno in _FULL:
                    self._lost_to_disk(len(rest))
                else:
                    self._gone = True  # EPIPE, EIO: whoever read it is gone; the log goes on
                return
            else:
                rest = rest[count:]
                self._full = False
                self._written += count
                self._moved_at = time.monotonic()

    def _lost_to_disk(self, count: int) -> None:
        """There may be room again for the next chunk; what is missing is said then, or at the end."""
        self._full = True
        with self._changed:
            self._lost += count
            self._taken -= count
        self._moved_at = time.monotonic()

    def _wait_until_writable(self) -> None:
        """Somebody else made the stream non-blocking."""
        with contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_WRITE)
            selector.select(1.0)


def is_null_device(descriptor: int) -> bool:
    """True for /dev/null, by whatever name it was opened."""
    try:
        found, null = os.fstat(descriptor), Path(os.devnull).stat()
    except OSError:
        return False
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == null.st_rdev
