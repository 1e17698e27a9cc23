"""A plan told to people as a story: what will run, with which toolkit and why, what is wrong, what mends it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from launcher.errors import worst
from launcher.model import Change, Plan, Severity, Step
from launcher.report.findings import counted, finding_lines
from launcher.report.life import life_facts
from launcher.report.lines import Line
from launcher.report.lookups import prediction_lines
from launcher.report.masking import masked
from launcher.report.showing import assignment, count, options

# What could not be told is no fault of anything: it has a section of its own.
COULD_NOT_TELL = frozenset({"could-not-tell", "requirement-unknown", "model-unchecked", "arch-unknown"})

# Layers of the environment in the order in which an operator asks about them.
ORIGINS: dict[str, str] = {
    "cuda": "from the CUDA decision",
    "engine": "for the engine",
    "profile": "from the profile",
    "operator": "from this command line",
    "repair": "always repaired",
    "caller": "passed from your shell",
    "run": "marks of the run",
}
STRATEGIES: dict[str, str] = {
    "keep": "what your environment leads to is right",
    "redirect": "another root than the one that your environment leads to",
    "wheel": "the toolkit in the target's wheels, completed by links",
    "provisioned": "a toolkit that gpulaunch installed",
    "hide": "no compiler, so that libraries go by torch's CUDA release",
    "refuse": "the one that the profile asks for cannot serve",
}
SHORT = 30  # characters: a reason that fits behind its variable

Section = Callable[[Plan], Iterator[Line]]


def plan_lines(plan: Plan, description: str = "") -> Iterator[Line]:
    """The whole story."""
    shown = masked(plan)
    yield from head(shown, description)
    for section in SECTIONS:
        yield from section(shown)
    yield from ending(shown)


def target_text(plan: Plan) -> str:
    """Which target, and how it was found."""
    if plan.target is None:
        return "none named"
    return f"{plan.target.python or plan.target.program} ({plan.target.how})"


def toolkit_text(plan: Plan) -> str:
    """The one root, in a few words."""
    toolkit = plan.toolkit
    if toolkit.strategy == "hide":
        return "none: every compiler is hidden"
    return f"nvcc {toolkit.release} in {toolkit.root}" if toolkit.release else toolkit.root


def ending(plan: Plan) -> Iterator[Line]:
    """The last line: would it start?"""
    yield Line()
    if plan.blocked:
        errors = [finding for finding in plan.findings if finding.severity is Severity.ERROR]
        lead, style = "Would not start:", "bold red"
        yield Line(f"{count(len(errors), 'error')} to mend, exit code {worst(errors)}.", lead=lead, lead_style=style)
    else:
        yield Line(f"{counted(plan.findings)}.", lead="Would start:", lead_style="bold green")


def heading(text: str) -> Iterator[Line]:
    """A section begins."""
    yield Line()
    yield Line(text, style="bold")


def head(plan: Plan, description: str = "") -> Iterator[Line]:
    """What this is about."""
    yield Line(plan.engine, lead=f"{plan.profile}:", lead_style="bold")
    if description:
        yield Line(description, indent=2)
    yield fact("profile", plan.file)
    yield fact("target", target_text(plan))
    yield fact("toolkit", toolkit_text(plan))
    yield fact("folder", plan.cwd)
    if plan.endpoint:
        yield fact("listens", f"{plan.endpoint.host}:{plan.endpoint.port}")
    for name, text in life_facts(plan):
        yield fact(name, text)


def fact(name: str, text: str) -> Line:
    """A name and what is to be said of it, in columns."""
    return Line(text, lead=f"{name:8}", indent=2, hanging=9, lead_style="dim")


def _toolkit(plan: Plan) -> Iterator[Line]:
    toolkit = plan.toolkit
    yield from heading(f"CUDA toolkit: {toolkit.strategy}, {STRATEGIES[toolkit.strategy]}")
    yield fact("root", toolkit.root)
    if toolkit.source and toolkit.source != toolkit.root:
        yield fact("made of", toolkit.source)
    yield fact("found", toolkit.how)
    yield fact("because", toolkit.because)
    for verdict in toolkit.verdicts:
        lead, style = ("+", "bold green") if verdict.fits else ("-", "bold red")
        chosen = "(chosen)" if verdict.root in (toolkit.root, toolkit.source) and verdict.fits else ""
        yield Line(verdict.root, lead=lead, tail=chosen, indent=2, lead_style=style, whole=True)
        if not chosen:
            yield Line(verdict.because, indent=6, hanging=0, style="dim")


def _libraries(plan: Plan) -> Iterator[Line]:
    if plan.predictions:
        yield from heading("What the libraries will find")
        yield from prediction_lines(plan.predictions)


def _search_path(plan: Plan) -> Iterator[Line]:
    yield from heading("PATH, in this order")
    for number, entry in enumerate(plan.search_path, start=1):
        yield Line(entry.path, lead=f"{number:2}", indent=1, lead_style="dim", whole=True)
        if entry.because != "system":
            yield Line(entry.because, indent=6, hanging=0, style="dim")


def _environment(plan: Plan) -> Iterator[Line]:
    kept = [change for change in plan.changes if change.value is not None]
    yield from heading(f"Environment: {count(len(kept), 'variable')}, nothing else")
    # An origin that has no title yet is shown by its own name, never left out.
    for origin in dict.fromkeys((*ORIGINS, *(change.origin for change in kept))):
        group = [change for change in kept if change.origin == origin]
        if group:
            yield Line(ORIGINS.get(origin, origin), indent=2, style="underline")
            yield from (line for change in group for line in _variable(change))


def _variable(change: Change) -> Iterator[Line]:
    if change.name == "PATH":
        yield Line("(above)", lead="PATH", indent=4, tail_style="dim")
    elif len(change.because) <= SHORT:
        yield Line(assignment(change), tail=f"({change.because})", indent=4)
    else:
        yield Line(assignment(change), indent=4, whole=True)
        yield Line(change.because, indent=8, hanging=0, style="dim")


def _dropped(plan: Plan) -> Iterator[Line]:
    gone = [change for change in plan.changes if change.value is None]
    if not gone:
        return
    yield from heading(f"Dropped: {count(len(gone), 'variable')}")
    for because, names in by_reason(gone).items():
        yield Line(f"{' '.join(names)}: {because}", indent=2)


def by_reason(changes: Iterable[Change]) -> dict[str, list[str]]:
    """Reason to names: most variables are dropped for the same one, which comes last."""
    reasons: dict[str, list[str]] = {}
    for change in changes:
        reasons.setdefault(change.because, []).append(change.name)
    return dict(sorted(reasons.items(), key=lambda entry: len(entry[1])))


def _prepare(plan: Plan) -> Iterator[Line]:
    if not plan.prepare:
        return
    yield from heading("Made before the start")
    yield from (line for step in plan.prepare for line in step_lines(step))


def step_lines(step: Step) -> Iterator[Line]:
    """What is made, and why."""
    yield Line(step.path, lead=f"{step.action}:", indent=2, whole=True)
    yield Line(step.because, indent=6, hanging=0, style="dim")


def _command(plan: Plan) -> Iterator[Line]:
    yield from heading("Command")
    for number, line in enumerate(options(plan.argv)):
        yield Line(line, indent=2 if number == 0 else 4, whole=True)


def _findings(plan: Plan) -> Iterator[Line]:
    found = [finding for finding in plan.findings if finding.code not in COULD_NOT_TELL]
    unknown = [finding for finding in plan.findings if finding.code in COULD_NOT_TELL]
    if found:
        yield from heading("Findings")
        yield from finding_lines(found, indent=2)
    if unknown:
        yield from heading("Could not tell")
        yield from finding_lines(unknown, indent=2)


SECTIONS: tuple[Section, ...] = (
    _toolkit, _libraries, _search_path, _environment, _dropped, _prepare, _command, _findings,
)  # fmt: skip
