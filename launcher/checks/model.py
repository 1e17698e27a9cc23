"""Is the model there? Names on a hub are never looked up: no plan downloads or asks anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.model import Finding
from launcher.situation import Situation

_ON_A_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """One "could not tell" for each model that is a name on a hub, the drafts of speculative decoding included."""
    profile = situation.profile
    named: dict[str, object] = {"model": profile.model}
    named |= {f"args.{key}": value for key, value in profile.args.items() if key.endswith("model-path")}
    for key, value in named.items():
        if isinstance(value, str) and _ON_A_HUB.fullmatch(value):
            yield findings.note(
                "model-unchecked",
                f"Could not tell whether {value} is cached or may be downloaded: no hub is asked before the start.",
                where=situation.asked.where(key),
            )
