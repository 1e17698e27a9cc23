"""Is the server's program anywhere on the planned PATH? Only where the machine was asked for it."""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """127, as the launch would end."""
    program = command.argv[0]
    if program in situation.facts.programs and situation.facts.programs[program] is None:
        yield findings.error(
            "program-missing",
            f"{program} was not found on {command.env.get('PATH', '')}.",
            fix="Correct the command, add its folder to env.path, or name a --target that holds the server.",
            where=situation.asked.where("command"),
        )
