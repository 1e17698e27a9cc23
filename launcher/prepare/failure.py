"""Why a step could not be done, where no system call says it."""

from __future__ import annotations


class Failure(Exception):
    """A sentence without its full stop, and what to do."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix
