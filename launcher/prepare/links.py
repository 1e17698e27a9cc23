"""A folder of links to everything in another one, but for some names: a system directory without its nvcc."""

from __future__ import annotations

import os
from pathlib import Path

from launcher.model import Step
from launcher.prepare.tree import Link, install


def carry_out(step: Step) -> None:
    """Follows the source: what was installed there since is linked at the next launch."""
    source = Path(step.source or "/")
    with os.scandir(source) as entries:
        names = [entry.name for entry in entries if entry.name not in step.leave_out]
    install(Path(step.path), {name: Link(str(source / name)) for name in names})
