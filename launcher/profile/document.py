"""One profile as a plain tree, with the place of every key and every problem found so far.

A value that cannot be taken is REFUSED in the tree: its problem is told once, and nothing that follows from its
absence is told again. Findings are made here so that no control character of a file reaches a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from launcher import findings
from launcher.model import Finding, Severity, Where

_LONGEST = 80  # characters of a key or value in a message


class _Refused:
    """The value of a key that was refused."""

    def __repr__(self) -> str:
        return "REFUSED"


REFUSED: Any = _Refused()


@dataclass
class Document:
    """A profile file, or several laid over each other."""

    file: str
    tree: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, Where] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    # A file below could not be read at all: nothing can be said about what is missing.
    incomplete: bool = False

    def where(self, key: str) -> Where:
        """Where a dotted key stands, or its nearest parent that does; else the file."""
        return where(self.lines, key, self.file)

    def error(self, code: str, key: str, what: str, fix: str, place: Where | None = None) -> None:
        """Notes that something is wrong with a key."""
        self.findings.append(findings.error(code, _message(key, what), fix=shown(fix), where=place or self.where(key)))

    def warning(self, code: str, key: str, what: str, fix: str, place: Where | None = None) -> None:
        """Notes that something about a key will likely hurt."""
        self.findings.append(
            findings.warning(code, _message(key, what), fix=shown(fix), where=place or self.where(key))
        )

    @property
    def errors(self) -> list[Finding]:
        """The findings that refuse the profile."""
        return [finding for finding in self.findings if finding.severity is Severity.ERROR]


def where(lines: Mapping[str, Where], key: str, file: str) -> Where:
    """The place of a dotted key, or of its nearest parent; else the file without a line."""
    while key:
        if key in lines:
            return lines[key]
        key = key.rpartition(".")[0]
    return Where(file, None)


def dotted(parent: str, key: str | int) -> str:
    """The key below a parent."""
    return f"{parent}.{key}" if parent else str(key)


def shown(text: str) -> str:
    """Text of a file as it may be printed: one line, no control characters."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def short(text: str) -> str:
    """Text of a file, cut where it is too long for a sentence."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def named(key: str) -> str:
    """A key as it may be printed. Who writes NAME=VALUE: for a key may have written a secret after the sign."""
    name, equals, _ = key.partition("=")
    return short(f"{name}=..." if equals else name)


def _message(key: str, what: str) -> str:
    return shown(f"{named(key)}: {what}." if key else f"{what}.")
