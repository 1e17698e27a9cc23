"""Brings the server's output to the run's log and to our own streams, and never makes the server wait.

Two pipes in, so that stdout and stderr stay apart on our side; bytes as they come, secrets masked. A thread reads; a
slow or dead terminal has a thread and a bounded buffer of its own, and loses output with a word about it; the log goes
on. A full disk is said once, and the pipes are drained all the same: a server that waits for its own output is a dead
server (a supervisor must not be the cause).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
from collections import deque
from collections.abc import Callable, Iterable

from launcher.supervise.masker import Masker

_READ = 1 << 20  # bytes at most in one read
PIPE_SIZE = 1 << 20  # bytes; the usual limit for users without privileges
_IDLE = 0.2  # seconds after which what looks like the beginning of a secret is shown: a prompt must appear
_WAITING = 64 << 20  # bytes that a slow terminal may be behind
_LAST_LINES = 16 << 10  # bytes of the end of the output that are kept in memory
_LONGEST_LINE = 300  # characters of a last line; the log has the whole

Say = Callable[[str], None]


class Terminal:
    """One of our own streams: written by a thread, so that nobody waits for whoever reads it."""

    def __init__(self, descriptor: int, name: str, say: Say) -> None:
        self._descriptor = descriptor
        self._name = name
        self._say = say
        self._chunks: deque[bytes] = deque()
        self._behind = 0
        self._lost = 0
        self._dead = False
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=f"terminal-{name}", daemon=True)
        self._thread.start()

    def put(self, chunk: bytes) -> None:
        """Takes a chunk, or drops it where the reader is too far behind or gone."""
        with self._changed:
            if self._dead or not chunk:
                return
            if self._behind + len(chunk) > _WAITING:
                self._lost += len(chunk)
                return
            self._chunks.append(chunk)
            self._behind += len(chunk)
            self._changed.notify()

    def close(self, patience: float) -> None:
        """Waits so many seconds for the rest to be written."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(patience)
        if self._lost:
            self._say(f"{self._lost} bytes were not shown on {self._name}, which did not keep up; the log has them")

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
                self._behind -= len(chunk)
                if self._dead:
                    self._chunks.clear()
                    return

    def _write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                self._wait_until_writable()
            except OSError:
                self._dead = True  # EPIPE, EIO: whoever read it is gone; the log goes on
                return

    def _wait_until_writable(self) -> None:
        """Somebody else made the stream non-blocking."""
        with contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_WRITE)
            selector.select(1.0)


class Capture:
    """Reads both pipes until they end. `log` is a file descriptor or None."""

    def __init__(self, pipes: dict[int, Terminal], log: int | None, secrets: Iterable[str], say: Say) -> None:
        secrets = tuple(secrets)
        self._terminals = pipes
        self._maskers = {pipe: Masker(secrets) for pipe in pipes}
        self._log = log
        self._say = say
        self._end = bytearray()
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)

    def start(self) -> None:
        """Begins to read."""
        self._thread.start()

    def finish(self, patience: float) -> bool:
        """Waits for the end of both pipes. False if somebody still holds one after so many seconds."""
        self._thread.join(patience)
        for terminal in set(self._terminals.values()):
            terminal.close(patience=2.0)
        return not self._thread.is_alive()

    def last_lines(self, count: int) -> tuple[str, ...]:
        """The last lines of the output, masked, without carriage returns."""
        text = bytes(self._end).decode("utf-8", "replace").replace("\r", "\n")
        lines = [line for line in text.split("\n") if line.strip()][-count:]
        return tuple(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..." for line in lines)

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for pipe in self._terminals:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                holding = any(masker.holds for masker in self._maskers.values())
                ready = selector.select(_IDLE if holding else None)
                for key, _ in ready:
                    if not self._take(key.fd):
                        selector.unregister(key.fd)
                        os.close(key.fd)
                if not ready:
                    self._flush()
        self._flush()

    def _take(self, pipe: int) -> bool:
        try:
            chunk = os.read(pipe, _READ)
        except OSError:
            return False
        if chunk:
            self._deliver(pipe, self._maskers[pipe].feed(chunk))
        return bool(chunk)

    def _flush(self) -> None:
        for pipe, masker in self._maskers.items():
            self._deliver(pipe, masker.flush())

    def _deliver(self, pipe: int, chunk: bytes) -> None:
        if not chunk:
            return
        self._terminals[pipe].put(chunk)
        self._end += chunk[-_LAST_LINES:]
        del self._end[:-_LAST_LINES]
        rest = memoryview(chunk)
        while rest and self._log is not None:
            try:
                rest = rest[os.write(self._log, rest) :]
            except OSError as error:
                self._say(f"the log cannot be written any more: {error.strerror}; the server goes on without it")
                self._log = None
