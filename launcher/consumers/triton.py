"""Triton brings its own assemblers and needs no toolkit: it only must not be handed a wrong one.

An empty or non-executable TRITON_PTXAS_PATH raises PermissionError where an absent one means the bundled assembler
(triton 3.6.0 and 3.8.0, `knobs.py`), so the caller's is never carried over.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.architectures import Release
from launcher.model import Change, Finding, Found, Step
from launcher.situation import Situation
from launcher.surroundings import Surroundings

NAME = "Triton"
PACKAGE = "triton"
PROBE: str | None = None
NEEDS: tuple[str, ...] = ()


def floor(version: str | None, capability: str) -> Release | None:
    """No toolkit is asked."""
    return None


def compiles(situation: Situation) -> str | None:
    """Everything, with what it brings itself."""
    return None


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """Nothing to set: the bundled assemblers are used."""
    return iter(())


def predict(surroundings: Surroundings) -> Found | None:
    """It looks for no toolkit."""
    return None


def harm(found: Found, situation: Situation) -> str | None:
    """None can come."""
    return None
