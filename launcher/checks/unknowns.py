"""What could not be told about this machine: one sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """One note for each fact that was not established."""
    for unknown in situation.facts.unknowns:
        yield findings.note("could-not-tell", f"Could not tell {unknown.subject}: {unknown.because.rstrip('.')}.")
