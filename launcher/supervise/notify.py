"""Tells systemd how the server is: READY=1 when it answers, not when its process exists. Never raises.

The socket is ours: the server does not get NOTIFY_SOCKET, or two would speak for one unit.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping

_PATIENCE = 1.0  # seconds


class Notifier:
    """Datagrams to NOTIFY_SOCKET; silent where there is none."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        path = environ.get("NOTIFY_SOCKET", "")
        self._address = f"\0{path[1:]}" if path.startswith("@") else path
        self._stopping = False
        self._status = ""

    def status(self, text: str) -> None:
        """One line for `systemctl status`; sent when it changes."""
        if text != self._status:
            self._status = text
            self._send(f"STATUS={text}")

    def ready(self, text: str) -> None:
        """The unit is started from now on."""
        self._status = text
        self._send(f"READY=1\nSTATUS={text}")

    def more_time(self, seconds: float) -> None:
        """Asks for more time before a start or a stop counts as failed: loading and draining take what they take."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * 1_000_000)}")

    def stopping(self) -> None:
        """Said once: it cannot be taken back."""
        if not self._stopping:
            self._stopping = True
            self._send("STOPPING=1\nSTATUS=stopping")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out,
        ):
            out.settimeout(_PATIENCE)  # a manager that does not read must not hold up the stop
            out.sendto(message.encode(), self._address)
