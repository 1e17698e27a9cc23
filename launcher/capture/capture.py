"""Brings the server's output to the run's log and to our own streams, and never makes the server wait.

A thread reads both pipes; a slow or dead terminal has a thread and a bounded buffer of its own, and loses output with a
word about it; the log goes on, in another thread with another buffer. A full disk is said once, and the pipes are
drained all the same: a server that waits for its own output is a dead server (a supervisor must not be the cause).
"""

from __future__ import annotations

import math
import os
import selectors
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from launcher.capture.lines import Lines
from launcher.capture.log_thread import LogThread
from launcher.capture.masker import Masker
from launcher.capture.records import Stream
from launcher.capture.terminal import Say, Terminal

_READ = 1 << 18  # bytes at most in one read: what the processor's cache holds
_IDLE = 0.2  # seconds after which an unfinished line is shown: a prompt must appear
_LATE = 0.2  # seconds after which the log's thread is told to go on, also while a flood of the other stream comes
_QUIET = 5.0  # seconds after which the log is brought up to date with it: a server that hangs says no more
_LAST_LINES = 16 << 10  # bytes of the end of the output that are kept in memory
_SLOW_READERS = 10.0  # seconds for those who read our streams at the end; a unit's stop must not take longer
_LONGEST_LINE = 300  # characters of a last line; the log has the whole
_STREAMS: tuple[Stream, Stream] = ("out", "err")


@dataclass
class _Wire:
    """One pipe of the server and what has come through it."""

    stream: Stream
    terminal: Terminal
    masker: Masker
    lines: Lines = field(init=False)
    heard_at: float = 0.0  # monotonic seconds

    def __post_init__(self) -> None:
        self.lines = Lines(self.masker)


class Capture:
    """Reads both pipes until they end.

    `terminals` maps our ends of the pipes, standard output first, to where each is shown. `on_lines` gets every
    finished line as it is in the log, without stamp, masked: many at once as one block with line ends, in the capture's
    thread.
    """

    def __init__(
        self,
        terminals: dict[int, Terminal],
        log: LogThread | None,
        secrets: Iterable[str],
        say: Say,
        on_lines: Callable[[bytes], None] | None = None,
    ) -> None:
        secrets = tuple(secrets)
        streams = dict(zip(terminals, _STREAMS, strict=True))
        self._wires = {pipe: _Wire(streams[pipe], to, Masker(secrets)) for pipe, to in terminals.items()}
        self._log = log
        self._say = say
        self._on_lines = on_lines
        self._end = b""
        self._progress: str | None = None
        self._went_on_at = 0.0
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)

    def start(self) -> None:
        """Begins to read."""
        self._thread.start()

    def finish(self, patience: float, until: float = math.inf) -> bool:
        """Waits for the end of both pipes. False if somebody still holds one, and for so many seconds nothing came, or
        that moment (monotonic seconds) is over.
        """
        begin = time.monotonic()
        while self._thread.is_alive():
            rest = min(max(begin, self.moved_at) + patience, until) - time.monotonic()
            if rest <= 0:
                break
            self._thread.join(rest)
        ended = not self._thread.is_alive()
        if ended and self._log is not None:
            self._log.close()
        until = time.monotonic() + _SLOW_READERS
        for wire in self._wires.values():
            wire.terminal.end()
        for wire in self._wires.values():
            wire.terminal.close(until)
        return ended

    @property
    def moved_at(self) -> float:
        """When the server last said anything (monotonic seconds), 0 for never."""
        return max(wire.heard_at for wire in self._wires.values())

    @property
    def progress(self) -> str | None:
        """The latest state of a progress bar, such as "Loading shards 37/61 (61 %)"."""
        return self._progress

    def last_lines(self, count: int) -> tuple[str, ...]:
        """The last lines of the log, without stamps."""
        lines = [line for line in self._end.decode("utf-8", "replace").split("\n") if line.strip()][-count:]
        return tuple(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..." for line in lines)

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for pipe in self._wires:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select(0) or self._wait(selector):
                    if not self._take(key.fd):
                        selector.unregister(key.fd)
                        os.close(key.fd)
                        self._end_of(self._wires[key.fd])
                self._show_what_waits(time.monotonic())

    def _wait(self, selector: selectors.BaseSelector) -> list[tuple[selectors.SelectorKey, int]]:
        """Nothing comes at this moment."""
        self._go_on(time.monotonic())
        return selector.select(self._patience())

    def _go_on(self, now: float) -> None:
        self._went_on_at = now
        if self._log is not None:
            self._log.go_on()

    def _patience(self) -> float | None:
        """Seconds until somebody must look again."""
        if any(wire.masker.holds for wire in self._wires.values()):
            return _IDLE
        return _QUIET if any(wire.lines.holds for wire in self._wires.values()) else None

    def _take(self, pipe: int) -> bool:
        try:
            chunk = os.read(pipe, _READ)
        except OSError:  # EIO: the end of a terminal
            return False
        if chunk:
            wire = self._wires[pipe]
            wire.heard_at = time.monotonic()
            self._deliver(wire, wire.masker.feed(chunk))
        return bool(chunk)

    def _show_what_waits(self, now: float) -> None:
        """A pipe that speaks must not keep the other one's words back."""
        if now - self._went_on_at >= _LATE:
            self._go_on(now)
        for wire in self._wires.values():
            if wire.masker.holds and now - wire.heard_at >= _IDLE:
                self._deliver(wire, wire.masker.flush())
            if wire.lines.holds and now - wire.heard_at >= _QUIET:
                self._keep(wire, wire.lines.settle())

    def _end_of(self, wire: _Wire) -> None:
        self._deliver(wire, wire.masker.flush(final=True))
        self._keep(wire, wire.lines.settle())

    def _deliver(self, wire: _Wire, shown: bytes) -> None:
        if shown:
            wire.terminal.put(shown)
            self._keep(wire, wire.lines.feed(shown))
            self._progress = wire.lines.progress or self._progress

    def _keep(self, wire: _Wire, block: bytes) -> None:
        if not block:
            return
        self._end = (self._end + block[-_LAST_LINES:])[-_LAST_LINES:]
        if self._log is not None:
            self._log.put(block, wire.stream, time.time(), more=True)
        if self._on_lines is not None:
            self._on_lines(block)
