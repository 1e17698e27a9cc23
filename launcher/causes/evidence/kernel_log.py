"""The kernel's log from the start of a run on: /dev/kmsg, read without waiting.

Only root may read it on most machines (kernel.dmesg_restrict), and containers have none of their own: then nothing can
be told from it, which is not the same as nothing to tell.
"""

from __future__ import annotations

import errno
import os

from launcher.causes.kernel_words import message

DEVICE = "/dev/kmsg"
_RECORD = 8192  # bytes; a record is never longer (CONSOLE_EXT_LOG_MAX)
_MOST = 20_000  # records that are read at once


class KernelLog:
    """Opened at its end. `problem` says why nothing can be told, or is None."""

    def __init__(self, device: str = DEVICE) -> None:
        self._descriptor: int | None = None
        self.problem: str | None = None
        try:
            self._descriptor = os.open(device, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError as error:
            self.problem = f"{device}: {error.strerror}"
            self.close()

    def new(self) -> list[str]:
        """What was said since the last look, a line each; empty if it cannot be read."""
        said: list[str] = []
        while self._descriptor is not None and len(said) < _MOST:
            try:
                record = os.read(self._descriptor, _RECORD)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno == errno.EPIPE:  # overwritten before we came; the next read goes on
                    continue
                self.problem = f"{DEVICE}: {error.strerror}"
                break
            if not record:
                break
            said.append(message(record))
        return said

    def close(self) -> None:
        """Lets it go."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
