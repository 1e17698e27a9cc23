"""A plan as stable plain text, for tests that keep whole plans in files: one fact a line, so that a change in a rule
shows as the lines it changes. Masked; no widths, no colours, no times.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.errors import worst
from launcher.model import Change, Finding, Plan, Prediction, TargetUsed
from launcher.report.lookups import called, found_text
from launcher.report.masking import masked
from launcher.report.showing import place, visible


def golden(plan: Plan) -> str:
    """The whole plan. Sections in reading order, variables by name."""
    return "".join(f"{visible(line)}\n" for line in _lines(masked(plan)))


def _lines(plan: Plan) -> Iterator[str]:
    yield f"profile {plan.profile} ({plan.file})"
    yield f"engine {plan.engine}"
    yield f"target {_target(plan.target)}"
    yield f"cwd {plan.cwd}"
    yield f"listens {plan.endpoint.host}:{plan.endpoint.port}" if plan.endpoint else "listens (could not tell)"
    yield f"ready {plan.ready.url}" if plan.ready else "ready (right after exec)"
    yield f"exit code {worst(plan.findings)}"
    yield from _section("argv", plan.argv)
    yield from _section("toolkit", _toolkit(plan))
    yield from _section("PATH", (f"{entry.path}: {entry.because}" for entry in plan.search_path))
    yield from _section("environment", (line for change in plan.changes for line in _set(change)))
    yield from _section("dropped", (line for change in plan.changes for line in _dropped(change)))
    yield from _section("limits", (f"{limit.name} {limit.soft}" for limit in plan.limits))
    yield from _section("prepare", (f"{step.action} {step.path}: {step.because}" for step in plan.prepare))
    yield from _section("predictions", (line for prediction in plan.predictions for line in _prediction(prediction)))
    yield from _section("findings", (line for finding in plan.findings for line in _finding(finding)))


def _section(title: str, lines: Iterator[str] | tuple[str, ...]) -> Iterator[str]:
    entries = tuple(lines)
    if entries:
        yield ""
        yield title
        yield from (f"  {entry}" for entry in entries)


def _target(target: TargetUsed | None) -> str:
    return f"{target.python or target.program} ({target.how})" if target else "(none)"


def _toolkit(plan: Plan) -> Iterator[str]:
    toolkit = plan.toolkit
    yield f"strategy {toolkit.strategy}"
    yield f"root {toolkit.root}"
    if toolkit.source and toolkit.source != toolkit.root:
        yield f"source {toolkit.source}"
    yield f"release {toolkit.release or '(no compiler)'}"
    yield f"how {toolkit.how}"
    yield f"because {toolkit.because}"
    for verdict in toolkit.verdicts:
        yield f"{'fits' if verdict.fits else 'unfit'} {verdict.root}: {verdict.because}"


def _set(change: Change) -> Iterator[str]:
    if change.value is None:
        return
    yield f"{change.name}={change.value}"
    # PATH's reason repeats its entries, which have a section of their own.
    because = "composed, see above" if change.name == "PATH" else change.because
    yield f"    {change.action} by {change.origin}: {because}"


def _dropped(change: Change) -> Iterator[str]:
    if change.value is None:
        yield f"{change.name}: {change.because}"


def _prediction(prediction: Prediction) -> Iterator[str]:
    yield f"{called(prediction.consumer, prediction.version)}: {found_text(prediction.planned)}"
    if prediction.consequence:
        yield f"    the caller's: {found_text(prediction.callers)}; {prediction.consequence}"


def _finding(finding: Finding) -> Iterator[str]:
    yield f"{finding.severity.value} {finding.code}: {place(finding)}{finding.message}"
    if finding.fix:
        yield f"    fix: {finding.fix}"
