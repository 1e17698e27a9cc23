"""Signals are read, not suffered: also those that arrive after the last look."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# In a process of its own: another thread of pytest's would get a signal that only the main thread blocks.
SCRIPT = """
import os, signal
from launcher.supervise.signals import Inbox

with Inbox() as inbox:
    os.kill(os.getpid(), signal.SIGTERM)
    print([(received.number.name, received.pid == os.getpid()) for received in inbox.read()])
    for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGIO, signal.SIGUSR1, signal.SIGRTMIN + 3):
        os.kill(os.getpid(), number)
    print(sorted(received.number.name for received in inbox.read()))
    os.kill(os.getpid(), signal.SIGINT)
print(signal.SIGINT in signal.sigpending())
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_signal_comes_with_its_sender_and_one_after_the_last_look_ends_nobody() -> None:
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=root, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "[('SIGTERM', True)]",
        "['SIGALRM', 'SIGIO', 'SIGUSR1', 'SIGXCPU']",
        "False",
    ]
    assert done.returncode == 0
