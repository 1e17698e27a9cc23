"""Moves a cached build out of the way, into a folder beside its own with the day in its name. Nothing is deleted."""

from __future__ import annotations

import time
from pathlib import Path

from launcher.model import Step
from launcher.private_files import make_private


def carry_out(step: Step) -> None:
    """`.../cached_ops/sampling` to `.../cached_ops.set-aside-2026-12-01/sampling`. Another launcher may be first."""
    source = Path(step.path)
    day = time.strftime("%Y-%m-%d")
    aside = source.parent.with_name(f"{source.parent.name}.set-aside-{day}")
    make_private(aside)
    try:
        source.rename(_free(aside / source.name))
    except FileNotFoundError:
        return


def _free(place: Path) -> Path:
    """The place, or the next name that nothing has."""
    names = (place.with_name(f"{place.name}.{number}") for number in range(2, 10_000))
    return next((name for name in (place, *names) if not name.exists()), place)
