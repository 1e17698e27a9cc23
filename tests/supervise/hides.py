"""A server with one bad worker: once it has hidden, it kills whoever started the server; then it is deaf to SIGTERM.

`python hides.py FILE`. It leaves the tree by a double fork, makes a session and wipes its environment, all in the
moment before the kill, so that nobody can have been told of it. Its pid is in FILE.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from launcher.selftest.engine import LIFETIME
from launcher.selftest.engine.workers import take_title


def main(out: Path) -> None:
    launcher = os.getppid()
    signal.alarm(LIFETIME)
    if os.fork() == 0:
        os.setsid()
        between = os.getpid()
        if os.fork():
            os._exit(0)
        hide_and_kill(launcher, between, out)
    while True:
        signal.pause()


def hide_and_kill(launcher: int, between: int, out: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(LIFETIME)
    take_title(b"hidden")
    while os.getppid() == between:
        pass
    out.write_text(str(os.getpid()))
    os.kill(launcher, signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
