"""Questions about a path that are never an exception: below a folder that may not be read there is nothing.

`Path.is_dir()` and its like raise PermissionError there, and OSError for a name that is too long (Python 3.10 to 3.13).
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path


def is_folder(path: Path | str) -> bool:
    """True for a folder, or a link to one, that can be reached."""
    return os.path.isdir(path)


def is_file(path: Path | str) -> bool:
    """True for a regular file, or a link to one, that can be reached."""
    return os.path.isfile(path)


def is_there(path: Path | str) -> bool:
    """True for anything that can be reached, not for a link to nothing."""
    return os.path.exists(path)


def below(folder: Path, pattern: str, most: int | None = None) -> list[Path]:
    """What matches, sorted; at most so many."""
    try:
        return sorted(islice(folder.glob(pattern), most))
    except OSError:
        return []
