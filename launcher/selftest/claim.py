"""A claim about this machine, and what became of trying it. Imports nothing of ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "failed", "not here"]


@dataclass(frozen=True)
class Told:
    """How a claim ended. `because` says what was seen; for `not here`, why it cannot be so and what is done instead."""

    state: State
    because: str


@dataclass(frozen=True)
class Claim:
    """`name` is for programs, `sentence` for people. `tried` may raise `Failed`."""

    name: str
    sentence: str
    tried: Callable[[], Told]


@dataclass(frozen=True)
class Verdict:
    """A claim that was tried, and for how many seconds."""

    claim: Claim
    told: Told
    seconds: float


class Failed(Exception):
    """It is not as claimed: a sentence with what was seen."""


def require(held: bool, otherwise: str) -> None:
    """Raises Failed with a sentence where something does not hold."""
    if not held:
        raise Failed(otherwise)
