"""Findings: what the operator should know, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(str, Enum):
    """How much a finding weighs: an error stops the launch."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing the operator should know: what is so, and what to do.

    `code` is stable and explained by `gpulaunch explain CODE`; `message` and `fix` are one sentence each.
    `exit_code` is the launch's exit code if this is the finding to mend first (0 unless an error).
    Make one with `launcher.findings.error`, `warning` or `note`, which know the exit code of each code.
    """

    code: str
    severity: Severity
    message: str
    fix: str = ""
    file: str | None = None
    line: int | None = None
    exit_code: int = 0


@dataclass(frozen=True)
class Where:
    """A place in a profile: a file and a line that counts from 1."""

    file: str
    line: int | None
