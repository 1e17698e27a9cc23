"""A stretch in which no signal comes between the start of a program and our knowing of it, nor between its parts."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """A stop that comes meanwhile is delivered at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
