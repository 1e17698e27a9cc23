"""Keeps the C library from giving large blocks back to the kernel with every free."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # <malloc.h>
_LARGE = 2 << 20  # bytes: more than any block that the capture makes


def keep_freed_blocks() -> None:
    """glibc maps a block of 128 KiB and more anew each time, and the kernel fills it with zeros page by page: a third
    of the time of a copy (mallopt(3)). Other C libraries do as they like.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_TRIM_THRESHOLD, _LARGE)
