"""How findings are made: only through these three functions, so that a code without an explanation cannot be printed.

The catalogue of codes is `launcher.explanations`. Pure.
"""

from __future__ import annotations

from launcher.explanations import CATALOGUE
from launcher.model import Finding, Severity, Where


def _make(severity: Severity, code: str, message: str, fix: str, where: Where | None) -> Finding:
    explanation = CATALOGUE[code]
    return Finding(
        code=code,
        severity=severity,
        message=message,
        fix=fix,
        file=where.file if where else None,
        line=where.line if where else None,
        exit_code=explanation.exit_code if severity is Severity.ERROR else 0,
    )


def error(code: str, message: str, *, fix: str = "", where: Where | None = None) -> Finding:
    """A finding that stops the launch. Raises KeyError for a code that the catalogue does not explain."""
    return _make(Severity.ERROR, code, message, fix, where)


def warning(code: str, message: str, *, fix: str = "", where: Where | None = None) -> Finding:
    """A finding that does not stop the launch but will likely hurt."""
    return _make(Severity.WARNING, code, message, fix, where)


def note(code: str, message: str, *, fix: str = "", where: Where | None = None) -> Finding:
    """A finding that only informs."""
    return _make(Severity.NOTE, code, message, fix, where)
