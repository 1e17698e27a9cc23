"""The diagnosis for people: from what is seen to what is the matter, what the server gets instead, and what could not
be told. It can be attached to an issue as it is: secrets are masked. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from launcher.diagnosis import Cause, Diagnosis
from launcher.model import Comparison, Facts, Prediction, Toolkit, Trial
from launcher.report.findings import finding_lines
from launcher.report.lines import Line
from launcher.report.lookups import UNKNOWN, called, found_text, widest
from launcher.report.masking import hidden, masked
from launcher.report.plan import COULD_NOT_TELL, STRATEGIES, ending, fact, heading, target_text
from launcher.report.side_by_side import rows, table
from launcher.secrets import mask

VERDICTS = {
    "as-predicted": ("+", "bold green", "as predicted"),
    "not-as-predicted": ("-", "bold red", "not as predicted"),
    "could-not-tell": ("?", "bold yellow", "could not tell"),
}
STATES = {"passed": ("+", "bold green"), "failed": ("-", "bold red"), "not-tried": ("?", "bold yellow")}


def doctor_lines(
    diagnosis: Diagnosis, comparisons: tuple[Comparison, ...] | None, trials: tuple[Trial, ...] | None
) -> Iterator[Line]:
    """The whole report. `comparisons` and `trials` None: not asked for."""
    secrets = hidden(diagnosis.plan, diagnosis.facts.caller.environ)
    shown = replace(diagnosis, plan=masked(diagnosis.plan))
    for line in _lines(shown, comparisons, trials):
        yield replace(line, text=mask(line.text, secrets), lead=mask(line.lead, secrets))


def _lines(
    diagnosis: Diagnosis, comparisons: tuple[Comparison, ...] | None, trials: tuple[Trial, ...] | None
) -> Iterator[Line]:
    yield from _head(diagnosis)
    for section in SECTIONS:
        yield from section(diagnosis)
    if comparisons is not None:
        yield from comparison_lines(comparisons)
    elif diagnosis.plan.predictions:
        yield Line()
        yield Line("What libraries find is predicted by their own rules; --verify asks them themselves.", style="dim")
    if trials is not None:
        yield from trial_lines(trials)
    yield from ending(diagnosis.plan)


def _head(diagnosis: Diagnosis) -> Iterator[Line]:
    """The numbers that every issue about CUDA begins with."""
    plan, facts = diagnosis.plan, diagnosis.facts
    target = facts.target
    yield Line(f"{plan.engine} from {plan.file}", lead=f"{plan.profile}:", lead_style="bold")
    host = facts.host
    system = f"{host.system} {host.kernel} {host.machine}{', WSL' if host.wsl else ''}"
    yield fact("system", f"{system}; gpulaunch {facts.launcher.version}")
    yield fact("target", target_text(plan))
    if target and target.torch:
        built = f"built for CUDA {target.torch.cuda}" if target.torch.cuda else "built without CUDA"
        yield fact("torch", f"{target.torch.version}, {built}")
    yield fact("driver", _driver(facts))
    yield fact("GPUs", _gpus(facts))
    for edit in facts.edited:
        yield fact("edited", edit)


def _driver(facts: Facts) -> str:
    if facts.driver is None or facts.driver.version is None:
        return UNKNOWN
    return f"{facts.driver.version}{f', knows CUDA up to {facts.driver.cuda}' if facts.driver.cuda else ''}"


def _gpus(facts: Facts) -> str:
    if facts.gpus is None:
        because = next((unknown.because for unknown in facts.unknowns if unknown.subject == "gpus"), "")
        return f"{UNKNOWN}: {because}" if because else UNKNOWN
    kinds = Counter((gpu.name, gpu.capability) for gpu in facts.gpus)
    said = (f"{number} x {name}, compute capability {capability}" for (name, capability), number in kinds.items())
    return "; ".join(said) or "none"


# --------------------------------------------------------------------------------------------------------------
# The chain


def _symptom(diagnosis: Diagnosis) -> Iterator[Line]:
    yield from heading("1. What your environment leads the libraries to")
    if not diagnosis.plan.predictions:
        yield Line("no library in the target is known to look for a toolkit", indent=2)
    width = widest(diagnosis.plan.predictions)
    for prediction in diagnosis.plan.predictions:
        yield _lookup(prediction, width, planned=False)
        if prediction.consequence:
            yield Line(prediction.consequence, lead="and so:", indent=6, hanging=8, lead_style="bold red")


def _lookup(prediction: Prediction, width: int, *, planned: bool) -> Line:
    found = prediction.planned if planned else prediction.callers
    lead, style = ("!", "bold red") if prediction.consequence and not planned else (" ", "")
    name = called(prediction.consumer, prediction.version)
    return Line(f"{name:{width}}  {found_text(found)}", lead=lead, indent=2, lead_style=style, hanging=width + 4)


def _why(diagnosis: Diagnosis) -> Iterator[Line]:
    yield from heading("2. Why")
    if not diagnosis.causes:
        yield Line("nothing that was looked at leads to a toolkit", indent=2)
    for cause in diagnosis.causes:
        yield Line(_behind(cause), lead=f"{cause.path or 'the empty path'}:", indent=2, lead_style="bold", whole=True)
        if cause.verdict is not None:
            lead, style = ("+", "bold green") if cause.verdict.fits else ("-", "bold red")
            yield from (
                Line(objection, lead=lead, indent=6, lead_style=style)
                for objection in cause.verdict.because.split("; ")
            )
        elif cause.toolkit is None:
            yield Line("none of the toolkits below stands there", lead="?", indent=6, lead_style="bold yellow")
    yield from _numbers(diagnosis)


def _behind(cause: Cause) -> str:
    toolkit = cause.toolkit
    if toolkit is None:
        return f"what {_and(cause.consumers)} would take"
    release = f"nvcc {toolkit.release}" if toolkit.release else toolkit.problem or "no nvcc"
    where = "" if cause.root == cause.path else f" in {cause.root}"
    return f"{release}{where}; found by {', '.join(toolkit.found)}"


def _numbers(diagnosis: Diagnosis) -> Iterator[Line]:
    """The three that decide: what the GPUs are, what compiles, what torch was built for."""
    facts = diagnosis.facts
    capabilities = sorted({gpu.capability for gpu in facts.gpus or ()})
    releases = [f"{cause.toolkit.release}" for cause in diagnosis.causes if cause.toolkit and cause.toolkit.release]
    torch = facts.target.torch if facts.target else None
    numbers = (
        ("compute capability", ", ".join(capabilities) or UNKNOWN),
        ("nvcc", ", ".join(dict.fromkeys(releases)) or "none"),
        ("torch's CUDA", (torch.cuda or "none") if torch else UNKNOWN),
    )
    yield Line("   ".join(f"{name} {number}" for name, number in numbers), indent=2)


def _instead(diagnosis: Diagnosis) -> Iterator[Line]:
    plan = diagnosis.plan
    yield from heading("3. What the server gets instead")
    yield Line(f"{plan.toolkit.strategy}: {STRATEGIES[plan.toolkit.strategy]}", indent=2)
    yield Line(plan.toolkit.because, indent=6, hanging=0, style="dim")
    yield from (Line(line, indent=2, whole=True) for line in table(rows(diagnosis.variables, plan)))
    if plan.predictions:
        yield Line("and so each library will find:", indent=2)
    width = widest(plan.predictions)
    yield from (_lookup(prediction, width, planned=True) for prediction in plan.predictions)


def _toolkits(diagnosis: Diagnosis) -> Iterator[Line]:
    yield from heading("4. Every toolkit that was found")
    verdicts = {verdict.root: verdict for verdict in diagnosis.plan.toolkit.verdicts}
    if not diagnosis.facts.toolkits:
        yield Line("none", indent=2)
    for toolkit in diagnosis.facts.toolkits:
        verdict = verdicts.get(toolkit.root)
        chosen = toolkit.root in (diagnosis.plan.toolkit.root, diagnosis.plan.toolkit.source)
        lead, style = ("+", "bold green") if verdict and verdict.fits else ("-", "bold red")
        yield Line(toolkit.root, lead=lead, tail="(chosen)" if chosen else "", indent=2, lead_style=style, whole=True)
        yield Line(_about(toolkit), indent=6, hanging=0, style="dim")
        if verdict is not None:
            yield Line(verdict.because, indent=6, hanging=0)


def _about(toolkit: Toolkit) -> str:
    release = f"nvcc {toolkit.release}" if toolkit.release else toolkit.problem or "no nvcc"
    headers = f", headers of {toolkit.headers_release}" if toolkit.headers_release else ""
    return f"{toolkit.kind}, {release}{headers}; found by {', '.join(toolkit.found)}"


def _modules(diagnosis: Diagnosis) -> Iterator[Line]:
    """Where each library lies that a compiled module needs; without any there is nothing to say."""
    if diagnosis.facts.modules:
        yield from heading("CUDA libraries that compiled modules need")
    for module in diagnosis.facts.modules:
        yield Line(module.file, indent=2, whole=True)
        for name, where in module.needs.items():
            lead, style = ("+", "bold green") if where else ("-", "bold red")
            yield Line(f"{name}: {where or 'nowhere'}", lead=lead, indent=6, lead_style=style, whole=True)


def _findings(diagnosis: Diagnosis) -> Iterator[Line]:
    yield from heading("5. Findings")
    found = [finding for finding in diagnosis.plan.findings if finding.code not in COULD_NOT_TELL]
    yield from finding_lines(found, indent=2)
    if not found:
        yield Line("none", indent=2)


def _could_not_tell(diagnosis: Diagnosis) -> Iterator[Line]:
    unknown = [finding for finding in diagnosis.plan.findings if finding.code in COULD_NOT_TELL]
    yield from heading("6. What could not be told")
    yield from finding_lines(unknown, indent=2)
    for prediction in diagnosis.plan.predictions:
        if prediction.callers is None or prediction.planned is None:
            where = "either environment" if prediction.callers == prediction.planned else _which(prediction)
            text = f"what it finds in {where}: its version, or a place that its lookup leads to, is not known"
            yield Line(text, lead=f"{called(prediction.consumer, prediction.version)}:", indent=2)
    for stranger in diagnosis.strangers:
        text = f"what it will find; it looks for {stranger.looks_for}"
        yield Line(text, lead=f"{called(stranger.package, stranger.version)}:", indent=2)
    if not (unknown or diagnosis.strangers or any(None in (p.callers, p.planned) for p in diagnosis.plan.predictions)):
        yield Line("nothing", indent=2)


def _which(prediction: Prediction) -> str:
    return "your environment" if prediction.callers is None else "the planned environment"


# --------------------------------------------------------------------------------------------------------------
# What was tried


def comparison_lines(comparisons: Iterable[Comparison]) -> Iterator[Line]:
    """One line for each library and environment."""
    yield from heading("Verified: each library's own lookup, run in the target")
    listed = tuple(comparisons)
    width = widest(listed)
    for comparison in listed:
        lead, style, words = VERDICTS[comparison.verdict]
        where = "planned" if comparison.environment == "planned" else "yours"
        name = called(comparison.consumer, comparison.version)
        text = f"{name:{width}}  {where:7}  {words}: {comparison_text(comparison)}"
        yield Line(text, lead=lead, indent=2, lead_style=style, hanging=4)
    if not listed:
        yield Line("the target holds no library that can be asked", indent=2)


def comparison_text(comparison: Comparison) -> str:
    """Both values where they differ."""
    if comparison.verdict == "could-not-tell":
        return comparison.because
    if comparison.verdict == "as-predicted":
        return found_text(comparison.found)
    return f"predicted {found_text(comparison.predicted)}; found {found_text(comparison.found)}"


def trial_lines(trials: Iterable[Trial]) -> Iterator[Line]:
    """Each step of the build; the output of the one that failed below it."""
    yield from heading("Built: a kernel of one line, in the planned environment")
    for trial in trials:
        lead, style = {"passed": ("+", "bold green"), "failed": ("-", "bold red")}.get(
            trial.state, ("?", "bold yellow")
        )
        yield Line(trial.step, lead=lead, indent=2, lead_style=style)
        if trial.state != "passed":
            yield Line(trial.command, indent=6, whole=True, style="dim")
        for line in trial.output:
            yield Line(line, indent=6, whole=True)


def _and(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


SECTIONS: tuple[Callable[[Diagnosis], Iterator[Line]], ...] = (
    _symptom, _why, _instead, _toolkits, _modules, _findings, _could_not_tell,
)  # fmt: skip
