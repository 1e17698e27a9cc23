"""Removes a cache folder of ours that nobody uses: first out of the way in one step, then for good.

A launch that begins in this moment makes a new one. A process that appears in it between the two steps gets it back.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex


def discard(path: Path, is_used: Callable[[Path], bool]) -> bool:
    """True if it is gone. Raises OSError where the system says no."""
    if is_used(path):
        return False
    away = path.with_name(f".{path.name}~{token_hex(4)}")
    try:
        path.rename(away)
    except FileNotFoundError:
        return True
    if is_used(path) or is_used(away):
        if not path.exists():
            away.rename(path)
        return False
    shutil.rmtree(away)
    return True
