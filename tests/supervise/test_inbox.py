"""Signals are read, not suffered: also those that arrive after the last look."""

from __future__ import annotations

import os
import signal

from launcher.supervise.signals import Inbox


def test_a_signal_after_the_last_look_ends_nobody() -> None:
    with Inbox() as inbox:
        os.kill(os.getpid(), signal.SIGTERM)
        assert [received.number for received in inbox.read()] == [signal.SIGTERM]
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.SIGINT not in signal.sigpending()
