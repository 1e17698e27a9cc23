"""Asks the server's own URL until it answers 2xx. In a thread: a slow answer must not delay a signal.

Proxies are ignored (sgl-project/sglang#9155). One try may take long: sglang's /health generates a token.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

_TRY = 10.0  # seconds for one answer
_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.1, 1.0, 1.3  # seconds between tries


class Probe:
    """Calls `answered` once, from its own thread, after the first 2xx that came from the server itself (`is_ours`)."""

    def __init__(self, url: str, answered: Callable[[], None], is_ours: Callable[[], bool] = lambda: True) -> None:
        self._url = url
        self._is_ours = is_ours
        self._answered = answered
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ready", daemon=True)

    def start(self) -> None:
        """Begins to ask."""
        self._thread.start()

    def stop(self) -> None:
        """No more questions; does not wait for an answer that is under way."""
        self._stopped.set()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stopped.wait(pause):
            if answers(self._url) and self._is_ours():
                if not self._stopped.is_set():
                    self._answered()
                return
            pause = min(pause * _GROWTH, _LONGEST_PAUSE)


def answers(url: str, timeout: float = _TRY) -> bool:
    """True for a 2xx answer within so many seconds."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}")
        return 200 <= connection.getresponse().status < 300
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()
