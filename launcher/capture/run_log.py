"""The log of a run: appended to, begun anew at a size, never in the server's way.

`server.log` is written; when it is full it becomes `server.log.1`, and so on up. Of `keep` files the first of all stays
whatever happens, for it says with what the server was started; the next oldest make room. Every start of one run goes
on in the same log: a restart must not take away why it became necessary (gpustack/gpustack#2819).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from launcher.capture.records import Part, Stream, stamped, stamped_parts
from launcher.capture.retention import make_room
from launcher.model import Logging
from launcher.private_files import open_private

Say = Callable[[str], None]
_IOV_MAX = 1024  # parts that one writev(2) takes: <limits.h> of Linux
MOST_PARTS = _IOV_MAX - 3  # after which another block still fits


class RunLog:
    """Where the log cannot be written it is said once, and tried again with every block: there may be room tomorrow."""

    def __init__(self, path: Path, options: Logging, say: Say) -> None:
        """Raises OSError where the file cannot be opened."""
        self._path = path
        self._options = options
        self._say = say
        self._lost = 0
        self._lost_here = 0
        self._whole = True  # the file ends with a line
        self._descriptor = open_private(path, os.O_WRONLY | os.O_APPEND)
        self._size = os.fstat(self._descriptor).st_size
        make_room(path.parent, options, time.time())
        if self._size:
            self.note("the server is started again")

    def put(self, block: bytes, stream: Stream, at: float) -> None:
        """Whole lines of a stream; `at` in seconds since the epoch."""
        self.append(self.marked(block, stream, at))

    def marked(self, block: bytes, stream: Stream, at: float) -> tuple[Part, ...]:
        """The same lines as this log will hold them, for `append`. From any thread."""
        return stamped_parts(block, stream, at, self._options.format)

    def append(self, parts: Sequence[Part]) -> None:
        """What `marked` made, one or several, each whole."""
        size = sum(map(len, parts))
        written = self._at_once(parts, size)
        if written < size:
            self._write(b"".join(parts), written)

    def note(self, sentence: str) -> None:
        """A line of our own."""
        self.put(sentence.encode() + b"\n", "gpulaunch", time.time())

    def lose(self, count: int) -> None:
        """So many bytes never came here: said at this place, and in the end."""
        self._lost += count
        self._lost_here += count

    def close(self) -> None:
        """Says what is missing in all."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._lost:
            self._say(f"{self._lost} bytes are missing in the log, which could not be written")

    def _at_once(self, parts: Sequence[Part], size: int) -> int:
        """The bytes that one call wrote, without a copy of them all: the usual case. 0 where there is more to do."""
        if (
            len(parts) > _IOV_MAX
            or self._lost_here
            or (self._options.rotate and self._size + size > self._options.rotate)
        ):
            return 0
        try:
            count = os.writev(self._descriptor, parts)
        except OSError:
            return 0
        self._size += count
        self._whole = count == size
        return count

    def _write(self, data: bytes, begin: int = 0) -> None:
        rest = memoryview(data)[begin:]
        while rest:
            # A file holds whole lines, and at least one.
            room = self._options.rotate - self._size
            if self._options.rotate and len(rest) > room and self._size and self._rotate():
                continue
            fits = len(rest)
            if self._options.rotate and fits > room:
                begin = len(data) - len(rest)
                cut = data.rfind(b"\n", begin, begin + max(room, 0)) + 1
                fits = (cut or data.find(b"\n", begin) + 1) - begin
            if self._lost_here and not self._mend():
                self.lose(len(rest))
                return
            came = self._append(rest[:fits])
            if came < fits:
                at = len(data) - len(rest) + came
                self.lose(len(rest) - came + self._cut(at - data.rfind(b"\n", 0, at) - 1))
                return
            rest = rest[fits:]

    def _append(self, part: memoryview) -> int:
        """How much of it came into the file."""
        came = 0
        try:
            while came < len(part):
                count = os.write(self._descriptor, part[came:])
                self._size += count
                came += count
                self._whole = came == len(part)
        except OSError as error:
            if not self._lost:
                self._say(f"the log cannot be written: {error.strerror}; the server goes on without it")
        return came

    def _cut(self, half: int) -> int:
        """Takes the beginning of a line away again, so that each is whole; how many bytes are gone."""
        try:
            if half:
                os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - half)
        except OSError:
            return 0
        self._size -= half
        self._whole = True
        return half

    def _mend(self) -> bool:
        """Says in the file itself what is missing at this place. False where that cannot be written either."""
        sentence, whole = f"{self._lost_here} bytes are missing here\n".encode(), self._whole
        line = stamped(sentence, "gpulaunch", time.time(), self._options.format)
        notice = memoryview(line if whole else b"\n" + line)
        came = self._append(notice)
        if came < len(notice):
            self._whole = self._cut(came) == came and whole
            return False
        self._lost_here = 0
        return True

    def _rotate(self) -> bool:
        """A new file. False where that cannot be done: the old one goes on."""
        try:
            for number in range(self._options.keep - 1, 0, -1):
                older = _numbered(self._path, number - 1)
                if older.exists() and not (number == self._options.keep - 1 and _numbered(self._path, number).exists()):
                    older.replace(_numbered(self._path, number))
            descriptor = open_private(self._path, os.O_WRONLY | os.O_APPEND | os.O_TRUNC)
        except OSError:
            return False
        os.close(self._descriptor)
        self._descriptor, self._size, self._whole = descriptor, 0, True
        make_room(self._path.parent, self._options, time.time())
        return True


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}") if number else path
