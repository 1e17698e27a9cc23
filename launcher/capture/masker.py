"""Masks secrets in a stream of bytes, also where one is split over two reads, however far apart. Pure.

Known values are masked in every spelling in which a log shows them: as they are, JSON-escaped, percent-encoded, as
Python's repr. Bytes come out up to the last line that has ended, so that a shape is always seen whole; an unfinished
line is held until `flush`, which is called when nothing came for a moment: a prompt must appear.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from launcher.capture.shapes import mask_shapes
from launcher.needles import Needles
from launcher.secrets import MASK, SHORT, long_enough

LONGEST = 64 << 10  # bytes of an unfinished line that are held

_MASK = MASK.encode()
_ESCAPE = rb"(?:\x1b\[[0-9;]*m)*"


class Masker:
    """Give it chunks, get chunks."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = spellings(secrets)
        self._needles = Needles(self._secrets)
        self._pattern = re.compile(b"|".join(re.escape(value) for value in self._secrets)) if self._secrets else None
        coloured = (_ESCAPE.join(re.escape(bytes([byte])) for byte in value) for value in self._secrets)
        self._coloured = re.compile(b"|".join(coloured)) if self._secrets else None
        self._crosses_lines = any(b"\n" in value or b"\r" in value for value in self._secrets)
        self._held = b""

    @property
    def holds(self) -> bool:
        """True while something is held back."""
        return bool(self._held)

    def feed(self, chunk: bytes) -> bytes:
        """What may be shown of everything so far."""
        cut = _end_of_lines(chunk)
        if cut and len(chunk) - cut <= LONGEST and not self._crosses_lines:
            held, self._held = self._held, chunk[cut:]
            return self._masked(b"".join((held, memoryview(chunk)[:cut])))  # copied once, not twice
        data = self._held + chunk
        cut = _end_of_lines(data)
        if len(data) - cut > LONGEST:
            gap = _last_gap(data)
            cut = max(cut, self._end_of_the_sure(data[:gap])[0])
        if self._crosses_lines:
            cut = self._outside_of_values(data, min(cut, self._end_of_the_sure(data)[0]))
        if not cut:
            self._held = data
            return b""
        self._held = data[cut:]
        return self._masked(data if cut == len(data) else data[:cut])

    def flush(self, *, final: bool = False) -> bytes:
        """What was held back, when nothing more comes (for now, or at all).

        The beginning of a known value stays held, however short: its rest may come in as many pieces as it likes. At
        the end one of 8 bytes and more is masked, a shorter one betrays nothing.
        """
        data, self._held = self._held, b""
        cut, keep = self._end_of_the_sure(data)
        if final:
            return self._masked(data[:cut]) + _MASK if keep >= SHORT else self._masked(data)
        self._held = data[cut:]
        return self._masked(data[:cut])

    def known(self, line: bytes) -> bytes:
        """A whole line with the known values masked."""
        return self._pattern.sub(_MASK, line) if self._pattern is not None else line

    def _masked(self, data: bytes) -> bytes:
        if not data:
            return data
        occurring = self._needles.occurring(data)
        if len(occurring) == 1:  # ten times faster than a pattern
            data = data.replace(occurring[0], _MASK)
        elif occurring and self._pattern is not None:
            data = self._pattern.sub(_MASK, data)
        if self._coloured is not None and b"\x1b" in data:
            data = self._coloured.sub(_MASK, data)
        return mask_shapes(data)

    def _end_of_the_sure(self, data: bytes) -> tuple[int, int]:
        """Up to where the data can be masked now, and how many bytes at its end are the beginning of a known value.

        A whole value that reaches into such a beginning stays with it: cut in two, neither would be recognised.
        """
        keep = self._unfinished(data)
        cut = len(data) - keep
        return self._outside_of_values(data, cut) if keep else cut, keep

    def _outside_of_values(self, data: bytes, cut: int) -> int:
        """The cut, or the beginning of the whole value in which it lies."""
        for match in self._pattern.finditer(data) if self._pattern is not None else ():
            if match.start() < cut < match.end():
                return match.start()
        return cut

    def _unfinished(self, data: bytes) -> int:
        """The length of the longest end of the data that is a beginning of a known value, but not all of it."""
        if not self._secrets:
            return 0
        for length in range(min(len(data), max(map(len, self._secrets)) - 1), 0, -1):
            end = data[-length:]
            if any(len(value) > length and value.startswith(end) for value in self._secrets):
                return length
        return 0


def spellings(secrets: Iterable[str]) -> tuple[bytes, ...]:
    """The values as bytes in all spellings, longest first so that no part of one stays readable."""
    found: set[bytes] = set()
    for value in long_enough(secrets):
        found.add(value.encode("utf-8", "surrogateescape"))
        printable = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        escaped = _escaped(printable)
        escaped |= {twice for once in escaped for twice in _escaped(once)}  # JSON in a string of JSON
        escaped |= {text.replace("/", "\\/") for text in escaped}
        encoded = {quote(printable, safe=""), quote(printable), quote_plus(printable)}
        encoded |= {re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), text) for text in encoded}
        found |= {text.encode() for text in escaped | encoded if len(text) >= SHORT}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def _escaped(text: str) -> set[str]:
    return {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]}


def _end_of_lines(data: bytes) -> int:
    """After the last line that has ended, be it only overwritten; 0 where none has."""
    end = data.rfind(b"\n") + 1
    return max(end, data.rfind(b"\r", end) + 1)


def _last_gap(data: bytes) -> int:
    """After the last blank of an endless line; where there is none, a kibibyte before its end."""
    gap = data.rfind(b" ", len(data) - LONGEST // 2)
    return gap + 1 if gap >= 0 else len(data) - 1024
