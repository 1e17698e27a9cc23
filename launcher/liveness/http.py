"""One question to the server over HTTP, and its answer; bounded in time and size, no proxies, no redirects."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from urllib.parse import urlsplit

_MOST = 8 << 20  # bytes of an answer; vLLM's metrics are some hundred KiB


@dataclass(frozen=True)
class Answer:
    """A status and a body."""

    status: int
    text: str = ""

    @property
    def good(self) -> bool:
        """True for a 2xx."""
        return 200 <= self.status < 300


def ask(url: str, *, timeout: float, key: str | None = None, body: str | None = None) -> Answer | None:
    """The answer to a GET, or to a POST of JSON where there is a body; None where none comes.

    `timeout` is in seconds, for each step of the exchange. `key` is sent as a bearer token: give it only where the
    server is known to be ours.
    """
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
    connection = kind(parts.hostname or "", parts.port, timeout=timeout)
    try:
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        connection.request("GET" if body is None else "POST", path, body, headers)
        reply = connection.getresponse()
        return Answer(reply.status, reply.read(_MOST).decode("utf-8", "replace"))
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def origin(url: str) -> str:
    """A URL without its path: "http://127.0.0.1:8000"."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
