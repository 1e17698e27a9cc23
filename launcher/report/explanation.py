"""What `gpulaunch explain CODE` says. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from launcher.explanations.entry import Explanation
from launcher.report.lines import Line


def explanation_lines(code: str, explanation: Explanation) -> Iterator[Line]:
    """Cause, evidence, fix, and the exit code of a launch that it stops."""
    yield Line(code, style="bold")
    for name, text in (("cause", explanation.cause), ("evidence", explanation.evidence), ("fix", explanation.fix)):
        yield Line(text, lead=f"{name + ':':9}", indent=2, hanging=10, lead_style="bold")
    yield Line(f"{explanation.exit_code}, where it is an error", lead="exit:    ", indent=2, lead_style="bold")
