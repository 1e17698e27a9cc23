"""For every test: the signals that a shell may have made us ignore are as they are at a login."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """`nohup pytest` and a job in the background hand an ignored SIGHUP or SIGINT on to everything that is started."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
