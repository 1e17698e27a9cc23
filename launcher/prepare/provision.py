"""A toolkit made from wheels as a step of a launch: `cuda: {toolkit: provision}` allows it."""

from __future__ import annotations

from pathlib import Path

from launcher.model import Step
from launcher.pinned_wheels import FOLDER
from launcher.prepare import provisioning


def carry_out(step: Step) -> None:
    """`path` is the root, `source` the release."""
    data = str(Path(step.path).parent).removesuffix(f"/{FOLDER}")
    provisioning.add(step.source or "", data)
