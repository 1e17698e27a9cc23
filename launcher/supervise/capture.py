"""Brings the server's output to the run's log and to our own streams, and never makes the server wait.

Two pipes in, so that stdout and stderr stay apart on our side; bytes as they come, secrets masked. A thread reads; a
slow or dead terminal has a thread and a bounded buffer of its own, and loses output with a word about it; the log goes
on. A full disk is said once, and the pipes are drained all the same: a server that waits for its own output is a dead
server (a supervisor must not be the cause).
"""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections.abc import Iterable

from launcher.supervise.masker import Masker
from launcher.supervise.terminal import Say, Terminal

_READ = 1 << 20  # bytes at most in one read
PIPE_SIZE = 1 << 20  # bytes; the usual limit for users without privileges
_IDLE = 0.2  # seconds after which what looks like the beginning of a secret is shown: a prompt must appear
_LAST_LINES = 16 << 10  # bytes of the end of the output that are kept in memory
_SLOW_READERS = 10.0  # seconds for those who read our streams at the end; a unit's stop must not take longer
_LONGEST_LINE = 300  # characters of a last line; the log has the whole


class _Log:
    """The run's log. A full disk is said once and tried again with every chunk: it may have room tomorrow."""

    def __init__(self, descriptor: int | None, say: Say) -> None:
        self._descriptor = descriptor
        self._say = say
        self._lost = 0

    def put(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        try:
            while rest and self._descriptor is not None:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            if not self._lost:
                self._say(f"the log cannot be written: {error.strerror}; the server goes on without it")
            self._lost += len(rest)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._lost:
            self._say(f"{self._lost} bytes are missing in the log, which could not be written")


class Capture:
    """Reads both pipes until they end. `log` is a file descriptor or None."""

    def __init__(self, pipes: dict[int, Terminal], log: int | None, secrets: Iterable[str], say: Say) -> None:
        secrets = tuple(secrets)
        self._terminals = pipes
        self._maskers = {pipe: Masker(secrets) for pipe in pipes}
        self._heard_at = dict.fromkeys(pipes, 0.0)
        self._log = _Log(log, say)
        self._end = bytearray()
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)

    def start(self) -> None:
        """Begins to read."""
        self._thread.start()

    def finish(self, patience: float) -> bool:
        """Waits for the end of both pipes. False if somebody still holds one after so many seconds."""
        self._thread.join(patience)
        ended = not self._thread.is_alive()
        if ended:
            self._log.close()
        until = time.monotonic() + _SLOW_READERS
        for terminal in self._terminals.values():
            terminal.end()
        for terminal in self._terminals.values():
            terminal.close(until)
        return ended

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
                for key, _ in selector.select(_IDLE if holding else None):
                    if not self._take(key.fd):
                        selector.unregister(key.fd)
                        os.close(key.fd)
                self._flush(time.monotonic() - _IDLE)
        self._flush(time.monotonic())

    def _take(self, pipe: int) -> bool:
        try:
            chunk = os.read(pipe, _READ)
        except OSError:
            return False
        if chunk:
            self._heard_at[pipe] = time.monotonic()
            self._deliver(pipe, self._maskers[pipe].feed(chunk))
        return bool(chunk)

    def _flush(self, before: float) -> None:
        """Shows what is held back since then; a pipe that speaks must not keep the other one's words back."""
        for pipe, masker in self._maskers.items():
            if masker.holds and self._heard_at[pipe] <= before:
                self._deliver(pipe, masker.flush())

    def _deliver(self, pipe: int, chunk: bytes) -> None:
        if not chunk:
            return
        self._terminals[pipe].put(chunk)
        self._end += chunk[-_LAST_LINES:]
        del self._end[:-_LAST_LINES]
        self._log.put(chunk)
