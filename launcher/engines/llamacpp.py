"""llama.cpp: its server binary, or the same server inside the xllamacpp wheel."""

from __future__ import annotations

from collections.abc import Iterator

from launcher.engines import arguments
from launcher.model import Change, Endpoint, Finding, Step
from launcher.situation import Situation

NAME = "llamacpp"
PACKAGES = ("xllamacpp",)
USUAL: tuple[str, ...] = ()
READY_PATH = "/health"
NEEDS_TARGET = True


def argv(situation: Situation) -> tuple[str, ...]:
    """To be completed."""
    return (situation.target.path if situation.target else "python3",)


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """To be completed."""
    return iter(())


def endpoint(argv: tuple[str, ...], situation: Situation) -> Endpoint | None:
    """127.0.0.1:8080."""
    return arguments.listens_at(argv, host="127.0.0.1", port=8080)
