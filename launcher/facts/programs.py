"""Programs that compilations and libraries call, as the child's PATH would find them."""

from __future__ import annotations

import shutil

from launcher.model import Target
from launcher.paths import SYSTEM_PATH

NAMES = ("gcc", "c++", "ninja", "which", "ldconfig")


def look(target: Target | None) -> dict[str, str | None]:
    """Each program's path in the target's bin or the system directories; None where there is none."""
    folders = ([target.bin] if target is not None and target.bin else []) + list(SYSTEM_PATH)
    return {name: shutil.which(name, path=":".join(folders)) for name in NAMES}
