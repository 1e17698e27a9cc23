"""For every test: signals that a shell may have made us ignore are as they are at a login; no claim depends on time."""

from __future__ import annotations

import signal

from hypothesis import settings

# A busy machine is slow, not wrong.
settings.register_profile("gpulaunch", deadline=None)


def pytest_configure() -> None:
    """`nohup pytest` and a job in the background hand ignored signals on to everything that is started."""
    settings.load_profile("gpulaunch")
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
