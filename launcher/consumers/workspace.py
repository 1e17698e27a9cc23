"""Where compiled kernels go: one folder for each toolkit, below our cache. Pure."""

from __future__ import annotations

from launcher.paths import short_key
from launcher.situation import Situation


def jit_folder(situation: Situation) -> str | None:
    """The folder for kernels compiled with the chosen root; None without one."""
    choice = situation.choice
    if choice is None or choice.root is None:
        return None
    return f"{situation.places.cache}/jit/{choice.release or 'hidden'}-{short_key(choice.root)}"
