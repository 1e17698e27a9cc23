"""What threads tell the loop: posted from anywhere, read where the signals are read, with a descriptor to wait at."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

Told = TypeVar("Told")


class Posts(Generic[Told]):
    """A letter box. Posting never waits and never fails, also when nobody reads any more."""

    def __init__(self) -> None:
        self.descriptor, self._bell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._waiting: deque[Told] = deque()

    def post(self, told: Told) -> None:
        """From any thread."""
        self._waiting.append(told)
        with contextlib.suppress(OSError):  # full: somebody rang already; closed: nobody reads
            os.write(self._bell, b"!")

    def read(self) -> Iterator[Told]:
        """Everything that was posted, in order."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.descriptor, 4096):
                pass
        while self._waiting:
            yield self._waiting.popleft()

    def close(self) -> None:
        """Nobody reads any more."""
        bell, self._bell = self._bell, -1
        os.close(bell)
        os.close(self.descriptor)
