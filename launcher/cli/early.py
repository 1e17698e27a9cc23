"""A stop that comes while we still plan: nothing is running, so it is done at once, with the code that it has later.

From the moment when the server may be running, signals are read by the supervisor (`launcher.supervise.signals`).
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from launcher import errors

_CODES = {
    signal.SIGTERM: errors.OK,
    signal.SIGHUP: 128 + signal.SIGHUP,
    signal.SIGQUIT: 128 + signal.SIGQUIT,
}


class Stopped(BaseException):
    """Like KeyboardInterrupt, which stands for SIGINT: nobody on the way takes it for a mistake."""

    def __init__(self, number: int, exit_code: int | None = None) -> None:
        self.number = number
        self.exit_code = int(_CODES[signal.Signals(number)]) if exit_code is None else exit_code
        super().__init__(signal.Signals(number).name)


def listen() -> None:
    """From now on. A hang-up that was ignored when we were started (nohup) stays ignored; INT and QUIT do not: every
    shell without job control ignores them for `gpulaunch ... &`, and the supervisor hears them later, too.
    """
    for number in _CODES:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def ending_a_query() -> Iterator[None]:
    """The same for a query that runs programs: they end with it, and a query that was cut short is no answer."""
    listen()
    try:
        yield
    except Stopped as stopped:
        raise Stopped(stopped.number, 128 + stopped.number) from None


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)
