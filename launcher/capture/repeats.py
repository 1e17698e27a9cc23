"""Counts lines that repeat the one before them instead of keeping each. Pure."""

from __future__ import annotations

from collections.abc import Iterator

_STRIDE = 4 << 10  # bytes between the places where a run is looked for
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

    def again(self, times: int) -> None:
        """The last line came so many times more."""
        self._count += times

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


def runs(chunk: bytes) -> Iterator[tuple[bytes, int]]:
    """The chunk in parts, and how often the last line of each follows it once more, which is left out then.

    A server that repeats one line without end says millions a second; only long runs are looked for.
    """
    done = at = 0
    while at < len(chunk):
        begin, middle = repetition_at(chunk, at)
        end = _end_of_run(chunk, middle, chunk[begin:middle]) if middle else 0
        if end > middle:
            yield chunk[done:middle], (end - middle) // (middle - begin)
            done = end
        at = max(at + _STRIDE, end)
    if done < len(chunk):
        yield chunk[done:], 0


def repetition_at(chunk: bytes, at: int) -> tuple[int, int]:
    """Where the first whole line from there lies, if the same follows it again; else 0, 0."""
    begin = chunk.find(b"\n", at) + 1
    middle = chunk.find(b"\n", begin) + 1
    is_repeated = 0 < begin < middle - 1 and chunk.startswith(chunk[begin:middle], middle)
    return (begin, middle) if is_repeated else (0, 0)


def _end_of_run(chunk: bytes, begin: int, line: bytes) -> int:
    """Up to where the line is repeated from there on."""
    block, end = line, begin
    while chunk.startswith(block, end):
        end += len(block)
        block += block
    while len(block) >= len(line):
        if chunk.startswith(block, end):
            end += len(block)
        block = block[: len(block) // 2]
    return end
