"""Engines: the servers that a profile can name, one file each, and the table of them.

To add one: a module that satisfies `Engine`, one line in `ENGINES`, one test file (and the name in
`launcher.profile.schema.EngineName`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from launcher.engines import command, llamacpp, sglang, transformers, vllm
from launcher.model import Change, Endpoint, Finding, Step
from launcher.situation import Situation


class Engine(Protocol):
    """One server. Pure: it is told what is there and yields what it wants."""

    @property
    def NAME(self) -> str:
        """As a profile's `engine` names it."""

    @property
    def PACKAGES(self) -> tuple[str, ...]:
        """Distributions one of which must be in a Python target; empty: any target will do."""

    @property
    def USUAL(self) -> tuple[str, ...]:
        """CUDA consumers that it usually brings: assumed where the target cannot be read."""

    @property
    def READY_PATH(self) -> str | None:
        """Answers 2xx once it serves; None: the profile must say."""

    @property
    def NEEDS_TARGET(self) -> bool:
        """False where it can do without a named target."""

    def argv(self, situation: Situation) -> tuple[str, ...]:
        """The command line without the operator's flags, as separate tokens."""

    def contribute(self, situation: Situation) -> Iterator[Change | Step | Finding]:
        """The variables and folders it needs, and what is worth saying."""

    def endpoint(self, argv: tuple[str, ...], situation: Situation) -> Endpoint | None:
        """Where it will listen, read from its final argv; None where that cannot be told."""


ENGINES: dict[str, Engine] = {
    "sglang": sglang,
    "vllm": vllm,
    "llamacpp": llamacpp,
    "transformers": transformers,
    "command": command,
}
