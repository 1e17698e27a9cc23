"""Every way the launcher itself fails, and the exit codes it uses.

The codes follow sysexits and env(1); the whole table stands in README.md. Raised errors end in one place,
`launcher.cli`, which prints their findings and exits; nothing below it prints or exits.
"""

from __future__ import annotations

from collections.abc import Iterable

from launcher.model import Finding

OK = 0
FAILED = 1  # an unasked exit 0 of a server, a failed claim of selftest
USAGE = 2
UNAVAILABLE = 69  # no driver, fewer GPUs, another capability
TRY_AGAIN = 75  # port or GPU held
NO_PERMISSION = 77
CONFIG = 78  # profile, toolkit, flags: do not restart
OUT_OF_TIME = 124
LAUNCHER_FAILED = 125
NOT_EXECUTABLE = 126
NOT_FOUND = 127
INTERRUPTED = 130  # Ctrl-C
PIPE_CLOSED = 141  # whoever read our output is gone: 128 + SIGPIPE

# Several findings block: the code of the one that must be mended first.
MEND_FIRST = (USAGE, CONFIG, NOT_FOUND, NOT_EXECUTABLE, NO_PERMISSION, UNAVAILABLE, TRY_AGAIN)


class Refused(Exception):
    """Not done, for reasons the operator can mend: all of them at once, and the exit code of the first to mend."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        self.exit_code = worst(self.findings)
        super().__init__("; ".join(finding.message for finding in self.findings))


class UsageError(Exception):
    """The command line cannot be understood: one sentence, exit 2."""


def worst(findings: Iterable[Finding]) -> int:
    """The exit code of the finding that must be mended first; 0 without errors."""
    codes = {finding.exit_code for finding in findings if finding.exit_code}
    ordered = [code for code in MEND_FIRST if code in codes]
    return ordered[0] if ordered else (min(codes) if codes else OK)
