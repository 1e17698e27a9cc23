"""What a launch says: before the start what runs, where and with which toolkit; at the end how it ended. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from launcher.errors import worst
from launcher.model import Finding, Outcome, Plan, Severity
from launcher.report.findings import counted, finding_lines
from launcher.report.lines import Line
from launcher.report.masking import masked
from launcher.report.plan import target_text, toolkit_text
from launcher.report.showing import quoted

LAST_LINES = 10


def before(plan: Plan, reference: str, *, verbose: bool, quiet: bool) -> Iterator[Line]:
    """Who we are about to start, and what is wrong. Notes only if asked: `explain` has them.

    `reference` is the profile as the operator named it.
    """
    shown = masked(plan)
    if not quiet:
        yield Line(f"{shown.engine} from {shown.file}", lead=f"{shown.profile}:", lead_style="bold")
        yield Line(target_text(shown), lead="target:")
        yield Line(f"{toolkit_text(shown)} ({shown.toolkit.strategy}: {shown.toolkit.because})", lead="toolkit:")
    weights = {Severity.ERROR} if quiet else {Severity.ERROR, Severity.WARNING}
    said = [finding for finding in shown.findings if verbose or finding.severity in weights]
    yield from finding_lines(said)
    left = [finding for finding in shown.findings if finding not in said]
    if left and not quiet:
        yield Line(f"{counted(left)}: gpulaunch explain --profile {quoted(reference)}", style="dim")
    if shown.blocked:
        code = worst(shown.findings)
        yield Line(f"mend the errors above (exit code {code}).", lead="not started:", lead_style="bold red")


def opened(log: PurePath | None, findings: Iterable[Finding], *, quiet: bool) -> Iterator[Line]:
    """Where the server's output goes."""
    yield from finding_lines(findings)
    if log is not None and not quiet:
        yield Line(str(log), lead="log:", whole=True)


def outcome(ended: Outcome) -> Iterator[Line]:
    """Cause and code at the very end, the log before it; after a failure the last lines first. `ended` is masked."""
    last = ended.last_lines[-LAST_LINES:]
    if last and not ended.requested:
        yield Line("the server's last lines:", style="dim")
        yield from (Line(line, indent=2, whole=True) for line in last)
    if ended.log:
        yield Line(ended.log, lead="log:", whole=True)
    started = ended.child != "not started"
    # A server may use 75 or 78 for purposes of its own.
    whose = ", the server's own" if ended.origin == "child" else ""
    yield Line(
        f"{ended.cause} (exit code {ended.exit_code}{whose})",
        lead="ended:" if started else "not started:",
        lead_style="bold green" if ended.requested else "bold red",
    )
    if ended.fix and not ended.requested:
        yield Line(ended.fix, lead="fix:", lead_style="bold")
