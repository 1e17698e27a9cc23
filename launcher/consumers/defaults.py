"""What most libraries answer to most questions: imported under the question's name where a library has no answer of its
own. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.architectures import Release
from launcher.model import Change, Finding, Found, Step
from launcher.situation import Situation
from launcher.surroundings import Surroundings


def no_floor(version: str | None, capability: str) -> Release | None:
    """It asks for no CUDA release of its own."""
    return None


def compiles_nothing(situation: Situation) -> str | None:
    """Nothing is certainly compiled while serving."""
    return None


def contributes_nothing(situation: Situation) -> Iterator[Change | Step | Finding]:
    """It reads no variable that needs to be set."""
    return iter(())


def looks_for_nothing(surroundings: Surroundings) -> Found | None:
    """It looks for no toolkit."""
    return None


def no_harm(found: Found, situation: Situation) -> str | None:
    """No harm comes of what it finds."""
    return None
