"""What connects the server's streams with us: pipes, or terminals for a server that behaves otherwise without one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import termios
from typing import Literal

PIPE_SIZE = 1 << 20  # bytes; the usual limit for users without privileges


def channel(kind: Literal["pipe", "pty"]) -> tuple[int, int]:
    """Our end and the server's. Raises OSError where none can be made."""
    return pseudo_terminal() if kind == "pty" else pipe()


def pipe() -> tuple[int, int]:
    """A pipe as large as we may make it: a burst must not make the server wait."""
    read, write = os.pipe()
    with contextlib.suppress(OSError):
        fcntl.fcntl(write, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_SIZE)
    return read, write


def pseudo_terminal() -> tuple[int, int]:
    """A terminal that leaves line ends as they are, as wide as ours. Reading it ends with EIO, not with nothing."""
    ours, theirs = os.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    with contextlib.suppress(OSError):
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8))
    return ours, theirs
