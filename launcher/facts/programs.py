"""Programs that compilations and libraries call, as the child's PATH would find them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

from launcher.model import Target
from launcher.paths import SYSTEM_PATH

NAMES = ("gcc", "c++", "ninja", "which", "ldconfig", "llama-server")


def look(target: Target | None, folders: Iterable[str] = (), names: Iterable[str] = ()) -> dict[str, str | None]:
    """Where each program is in the target's bin, these folders or the system's; None where there is none.

    `names` are looked for besides. A file that may not be executed counts as there: that is another mistake.
    """
    places = [*([target.bin] if target is not None and target.bin else []), *folders, *SYSTEM_PATH]
    path = ":".join(places)
    return {name: shutil.which(name, path=path) or shutil.which(name, os.F_OK, path) for name in (*NAMES, *names)}
