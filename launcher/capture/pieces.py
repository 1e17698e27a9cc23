"""Splits a stream of bytes into lines: \\n ends one, \\r begins to write over it, none exceeds 16 KiB. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 16 << 10  # bytes; longer lines go on in the next one
_END = re.compile(rb"\r*\n|\r+(?=[^\r\n])")


@dataclass(frozen=True)
class Piece:
    """One line, or what was shown in its place for a while: `overwritten` by what came after a carriage return."""

    text: bytes
    overwritten: bool = False


class Splitter:
    """Give it chunks, get pieces. A carriage return at the end of a chunk waits for what follows it."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def rest(self) -> bytes:
        """The beginning of a line that has not ended."""
        return self._rest

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """The pieces that have ended."""
        data, at = self._rest + chunk, 0
        self._rest = b""
        for match in _END.finditer(data):
            *full, last = split_long(data[at : match.start()])
            yield from map(Piece, full)
            yield Piece(last, overwritten=not match[0].endswith(b"\n"))
            at = match.end()
        rest = data[at:]
        if len(rest.rstrip(b"\r")) > LONGEST:
            *full, rest = split_long(rest)
            yield from map(Piece, full)
        self._rest = rest

    def flush(self) -> Iterator[Piece]:
        """What has not ended, as if it had."""
        rest, self._rest = self._rest.rstrip(b"\r"), b""
        if rest:
            yield from map(Piece, split_long(rest))


def split_long(line: bytes) -> list[bytes]:
    """The line in parts of at most 16 KiB that end with a whole character; at least one part."""
    parts = []
    while len(line) > LONGEST:
        cut = LONGEST
        while cut > LONGEST - 3 and line[cut] & 0xC0 == 0x80:  # a byte that goes on with a character
            cut -= 1
        if line[cut] & 0xC0 == 0x80:
            cut = LONGEST  # no UTF-8 anyway
        parts.append(line[:cut])
        line = line[cut:]
    return [*parts, line]
