"""Counts lines that repeat the one before them instead of keeping each. Pure."""

from __future__ import annotations

from collections.abc import Iterator

FEW = 2  # repetitions that are kept as they are: a count would not be shorter


class Repeats:
    """Give it lines, get the lines to keep."""

    def __init__(self) -> None:
        self._line: bytes | None = None
        self._count = 0

    @property
    def holds(self) -> bool:
        """True while there is something to be told."""
        return self._count > 0

    @property
    def last(self) -> bytes | None:
        """The line before."""
        return self._line

    def feed(self, line: bytes) -> Iterator[bytes]:
        """The lines to keep now."""
        if line and line == self._line:
            self._count += 1
            return
        yield from self.settle()
        self._line = line
        yield line

    def passed(self, line: bytes) -> None:
        """This line was kept without being looked at; nothing may be held then."""
        self._line = line

    def settle(self) -> Iterator[bytes]:
        """What is known by now."""
        count, self._count = self._count, 0
        if self._line is not None and count <= FEW:
            yield from [self._line] * count
        elif count:
            yield f"last line repeated {count} times".encode()
