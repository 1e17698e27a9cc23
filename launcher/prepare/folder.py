"""A private folder that exists and can be written, before a server finds out that it cannot."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from launcher.model import Step
from launcher.private_files import make_private


def carry_out(step: Step) -> None:
    """Makes it and what is missing above it, 0700. Its time says when it was last used: `gpulaunch cache prune`."""
    folder = Path(step.path)
    make_private(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), step.path)
    with contextlib.suppress(OSError):  # somebody else's, writable for us
        os.utime(folder)
