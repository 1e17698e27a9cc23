"""CUDA consumers: the libraries in the target that look for a toolkit, one file each, and the table of them.

To add one: a module that satisfies `Consumer`, one line in `CONSUMERS`, one test file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from launcher.consumers import flashinfer, torch, triton
from launcher.model import Change, Finding, Step
from launcher.situation import Situation


class Consumer(Protocol):
    """One library. Pure: it is told what is there and yields what it wants."""

    @property
    def NAME(self) -> str:
        """As people call it."""

    @property
    def PACKAGE(self) -> str:
        """Its distribution, normalised."""

    @property
    def NEEDS(self) -> tuple[str, ...]:
        """Parts of a toolkit that its compilations need (`launcher.facts.toolkits.PARTS`)."""

    def floor(self, version: str | None, capability: str) -> tuple[int, int] | None:
        """The oldest CUDA release that this version accepts for a compute capability; None: no rule of its own."""

    def compiles(self, situation: Situation) -> str | None:
        """What it certainly compiles while serving, as a phrase; None where all is prebuilt or it never compiles."""

    def contribute(self, situation: Situation) -> Iterator[Change | Step | Finding]:
        """The variables it reads, the folders it needs and what is worth saying."""


CONSUMERS: tuple[Consumer, ...] = (torch, triton, flashinfer)


def installed(situation: Situation) -> tuple[Consumer, ...]:
    """The consumers that the target holds (or is assumed to hold), in the table's order."""
    return tuple(consumer for consumer in CONSUMERS if situation.has(consumer.PACKAGE))
