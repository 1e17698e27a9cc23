"""A dry run for people: the command to paste, what differs from the caller's environment, the findings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from launcher.model import Change, Plan
from launcher.report.findings import finding_lines
from launcher.report.lines import Line
from launcher.report.lookups import prediction_lines
from launcher.report.masking import masked
from launcher.report.plan import by_reason, ending, head, heading, step_lines
from launcher.report.showing import assignment, count
from launcher.secrets import MASK


def dry_run_lines(plan: Plan, environ: Mapping[str, str], command: tuple[str, ...]) -> Iterator[Line]:
    """`environ` is the caller's; `command` the lines to paste."""
    shown = masked(plan)
    yield from head(shown)
    yield from heading("The same by hand, unsupervised")
    yield from (Line(line, whole=True) for line in command)
    if any(MASK in line for line in command):
        yield Line(f"Type your secrets in place of {MASK}.", style="dim")
    yield from _difference(plan, shown, environ)
    if shown.predictions:
        yield from heading("What the libraries will find")
        yield from prediction_lines(shown.predictions)
    if shown.prepare:
        yield from heading("Made before the start")
        yield from (line for step in shown.prepare for line in step_lines(step))
    if shown.findings:
        yield from heading("Findings")
        yield from finding_lines(shown.findings, indent=2)
    yield from ending(shown)


def _difference(plan: Plan, shown: Plan, environ: Mapping[str, str]) -> Iterator[Line]:
    """By the real values, shown masked."""
    yield from heading("Environment, compared with yours")
    same: list[str] = []
    gone: list[Change] = []
    for real, change in zip(plan.changes, shown.changes, strict=True):
        if real.value is None:
            gone.append(change)
        elif environ.get(real.name) == real.value:
            same.append(real.name)
        else:
            sign, style = ("~", "bold yellow") if real.name in environ else ("+", "bold green")
            yield Line(assignment(change), lead=sign, indent=2, lead_style=style, whole=True)
            if change.origin == "cuda":  # what the launch hangs on; `explain` has the reason of every variable
                yield Line(change.because, indent=6, hanging=0, style="dim")
    for because, names in by_reason(gone).items():
        yield Line(f"{' '.join(names)}: {because}", lead="-", indent=2, lead_style="bold red")
    if same:
        yield Line(f"{count(len(same), 'variable')} as you have it: {' '.join(same)}", lead="=", indent=2, style="dim")
