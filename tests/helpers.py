"""Small things that many tests need. The only place where a test may poll."""

from __future__ import annotations

import contextlib
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

_Value = TypeVar("_Value")


def eventually(look: Callable[[], _Value], *, within: float = 30.0, what: str = "") -> _Value:
    """The first true value that `look` returns within so many seconds; else the test fails and says what it saw."""
    deadline = time.monotonic() + within
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() >= deadline:
            raise AssertionError(
                f"not within {within} s: {what or getattr(look, '__name__', look)}; last seen: {seen!r}"
            )
        time.sleep(0.02)


def free_port() -> int:
    """A port on loopback that nobody holds at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """A disk that is full, for our own process: writes come to an end in the middle and then fail."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
