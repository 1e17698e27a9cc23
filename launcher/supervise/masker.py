"""Masks secret values in a stream of bytes, also where one is split over two reads. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from launcher.secrets import MASK, long_enough


class Masker:
    """Give it chunks, get chunks. What might be the beginning of a secret is held back until it is known."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(value.encode("utf-8", "surrogateescape") for value in long_enough(secrets))
        self._pattern = re.compile(b"|".join(re.escape(value) for value in self._secrets)) if self._secrets else None
        self._held = b""

    @property
    def holds(self) -> bool:
        """True while something is held back."""
        return bool(self._held)

    def feed(self, chunk: bytes) -> bytes:
        """What may be shown of everything so far."""
        if self._pattern is None:
            return chunk
        data = self._held + chunk
        shown, rest = self._masked(data, len(data) - self._unfinished(data))
        keep = self._unfinished(rest)
        self._held = rest[len(rest) - keep :]
        return shown + rest[: len(rest) - keep]

    def flush(self) -> bytes:
        """What was held back, when nothing more comes (for now)."""
        shown, rest = self._masked(self._held, len(self._held))
        self._held = b""
        return shown + rest

    def _masked(self, data: bytes, until: int) -> tuple[bytes, bytes]:
        """Data with every secret masked that begins before `until`, up to the last one, and what follows it.

        One that begins later is part of what may become a longer secret, which then is masked as a whole.
        """
        parts, end = [], 0
        for match in self._pattern.finditer(data) if self._pattern else ():
            if match.start() >= until:
                break
            parts += [data[end : match.start()], MASK.encode()]
            end = match.end()
        return b"".join(parts), data[end:]

    def _unfinished(self, data: bytes) -> int:
        """The length of the longest end of the data that is a beginning of a secret, but not all of it."""
        for length in range(min(len(data), max(map(len, self._secrets)) - 1), 0, -1):
            end = data[-length:]
            if any(len(secret) > length and secret.startswith(end) for secret in self._secrets):
                return length
        return 0
