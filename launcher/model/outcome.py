"""Outcome: how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended. `exit_code` is ours; `child` says what the leader did ("exit 0", "signal 9", "not started").

    `origin` tells whose code it is, as a child may use 75 or 78 for purposes of its own.
    """

    exit_code: int
    cause: str
    origin: Literal["launcher", "child"]
    child: str
    requested: bool
    ready: bool
    run_folder: str | None = None
    log: str | None = None
    last_lines: tuple[str, ...] = ()
    swept: int = 0  # descendants that had to be ended after the leader
    fix: str | None = None  # after a failure: what to do, a sentence
    failure: str | None = None  # and its class, `launcher.causes.classes.Failure`
    attempts: int = 1  # starts, the first one counted
