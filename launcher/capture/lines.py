"""From what one stream showed to the lines that its log keeps: plain, collapsed, counted. Pure.

Most chunks hold nothing unusual, and are found so by searches for single bytes; they pass as they are. Everything else
is looked at line by line.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.capture import pieces, progress
from launcher.capture.masker import Masker
from launcher.capture.pieces import Splitter
from launcher.capture.plain import is_plain, plain
from launcher.capture.progress import Progress
from launcher.capture.repeats import Repeats, repetition_at, runs
from launcher.capture.shapes import mask_shapes

_LARGE = 32 << 10  # bytes of a chunk in which repetitions are looked for here and there: a long one is found
_STRIDE = 16 << 10  # bytes between those looks


class Lines:
    """Give it chunks, get blocks: whole lines, each with its end, possibly none."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker  # a secret may come to light when escape sequences are gone
        self._splitter = Splitter()
        self._progress = Progress()
        self._repeats = Repeats()

    @property
    def progress(self) -> str | None:
        """The latest state of a progress bar, in short."""
        return self._progress.latest

    @property
    def holds(self) -> bool:
        """True while something is not in the log yet."""
        return bool(self._splitter.rest) or self._progress.holds or self._repeats.holds

    def feed(self, chunk: bytes) -> bytes:
        """The lines that are finished."""
        if self._passes(chunk):
            self._repeats.passed(chunk[chunk.rfind(b"\n", 0, -1) + 1 : -1])
            return chunk
        return _block(self._looked_at(chunk))

    def settle(self) -> bytes:
        """What is not in the log yet, when nothing more comes for a while."""
        return _block(self._settled())

    def _passes(self, chunk: bytes) -> bool:
        """True for whole ordinary lines."""
        return (
            chunk.endswith(b"\n")
            and len(chunk) >= _LARGE
            and not self.holds
            and (b"%" not in chunk or not progress.TRIGGER.search(chunk))
            and not _has_long_line(chunk)
            and is_plain(chunk)
            and not self._repeats_something(chunk)
        )

    def _repeats_something(self, chunk: bytes) -> bool:
        first = chunk[: chunk.find(b"\n")]
        return first == self._repeats.last or any(
            repetition_at(chunk, at) != (0, 0) for at in range(0, len(chunk), _STRIDE)
        )

    def _looked_at(self, chunk: bytes) -> Iterator[bytes]:
        for part, times in runs(chunk):
            yield from self._line_by_line(part)
            last = part[part.rfind(b"\n", 0, -1) + 1 :]
            if last[:-1] == self._repeats.last and b"%" not in last:  # it is kept as it is: only its number counts
                self._repeats.again(times)
            else:
                yield from self._line_by_line(last * times)

    def _line_by_line(self, chunk: bytes) -> Iterator[bytes]:
        for piece in self._splitter.feed(chunk):
            text = piece.text
            if not is_plain(text):
                text = mask_shapes(self._masker.known(plain(text)))
            for kept in self._progress.feed(pieces.Piece(text, piece.overwritten)):
                yield from self._repeats.feed(kept)

    def _settled(self) -> Iterator[bytes]:
        for piece in self._splitter.flush():
            for kept in self._progress.feed(pieces.Piece(mask_shapes(self._masker.known(plain(piece.text))))):
                yield from self._repeats.feed(kept)
        for kept in self._progress.settle():
            yield from self._repeats.feed(kept)
        yield from self._repeats.settle()


def _block(lines: Iterator[bytes]) -> bytes:
    return b"".join(part + b"\n" for line in lines for part in pieces.split_long(line))


def _has_long_line(chunk: bytes) -> bool:
    """True if so many bytes lie between two line ends."""
    at = 0
    while len(chunk) - at > pieces.LONGEST:
        at = chunk.rfind(b"\n", at, at + pieces.LONGEST + 1) + 1
        if not at:
            return True
    return False
