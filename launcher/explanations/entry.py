"""The shape of one explanation."""

from __future__ import annotations

from dataclasses import dataclass

from launcher import errors


@dataclass(frozen=True)
class Explanation:
    """What stands behind a code: cause, evidence (how we know it when we see it) and fix, a sentence or two each.

    `exit_code` counts only where a finding of this code is an error.
    """

    cause: str
    evidence: str
    fix: str
    exit_code: int = errors.CONFIG
