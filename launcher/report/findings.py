"""Findings for people: what is so, then what to do, and the code that `gpulaunch explain CODE` takes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from launcher.model import Finding, Severity
from launcher.report.lines import Line
from launcher.report.showing import count, place

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}


def finding_lines(findings: Iterable[Finding], *, indent: int = 0) -> Iterator[Line]:
    """`error: file:line: message [code]`, and the fix below it."""
    for finding in findings:
        yield Line(
            f"{place(finding)}{finding.message}",
            lead=f"{finding.severity.value}:",
            tail=f"[{finding.code}]",
            indent=indent,
            lead_style=STYLES[finding.severity],
        )
        if finding.fix:
            yield Line(finding.fix, lead="fix:", indent=indent + 2, hanging=5, lead_style="bold green")


def counted(findings: Iterable[Finding]) -> str:
    """`2 errors, 1 warning, 3 notes`; what there is none of is not mentioned."""
    numbers = Counter(finding.severity for finding in findings)
    said = [count(numbers[severity], severity.value) for severity in reversed(Severity) if numbers[severity]]
    return ", ".join(said) or "nothing to mend"
