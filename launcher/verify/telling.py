"""What a verification comes to, as findings: what a library itself contradicts stops a launch. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from launcher import findings
from launcher.model import Comparison, Finding, Found, Plan, Trial
from launcher.secrets import mask

_DOCTOR = "gpulaunch doctor --verify with the same profile"
_NO_VERIFY = "--no-verify starts without asking"


def comparison_findings(comparisons: Iterable[Comparison], plan: Plan) -> Iterator[Finding]:
    """Of the planned environment alone: the caller's is only there for contrast."""
    for comparison in comparisons:
        if comparison.environment != "planned":
            continue
        name = f"{comparison.consumer} {comparison.version}" if comparison.version else comparison.consumer
        if comparison.verdict == "not-as-predicted":
            said = f"{name} itself finds something else in the planned environment: {_both(comparison)}."
            fix = f"{_DOCTOR} shows it in full; {_NO_VERIFY}."
            yield findings.error("prediction-failed", mask(said, plan.secrets), fix=fix)
        elif comparison.verdict == "could-not-tell":
            said = f"Could not tell what {name} itself finds: {comparison.because.rstrip('.')}."
            fix = f"{_DOCTOR} asks again; {_NO_VERIFY}."
            yield findings.warning("prediction-unverified", mask(said, plan.secrets), fix=fix)


def _both(comparison: Comparison) -> str:
    """Only the parts that differ."""
    predicted, found = parts(comparison.predicted), parts(comparison.found)
    said = [
        f"{part} {found.get(part, 'none')} where {predicted.get(part, 'none')} was predicted"
        for part in dict.fromkeys((*predicted, *found))
        if predicted.get(part) != found.get(part)
    ]
    return ", ".join(said)


def parts(found: Found | None) -> dict[str, str]:
    """What a lookup returned, part by part, by the words that people use."""
    if found is None:
        return {}
    named = {"toolkit": found.path, "release": found.release}
    said = {part: value or "''" for part, value in named.items() if value is not None}
    if found.archs is not None:
        said["architectures"] = " ".join(found.archs) or "none"
    words = {"path": "toolkit", "archs": "architectures"}
    return {**said, **{words.get(part, part): name for part, name in found.errors.items()}}


def build_findings(trials: Iterable[Trial], plan: Plan) -> Iterator[Finding]:
    """The first step that failed."""
    for trial in trials:
        if trial.state == "failed":
            words = _most_telling(trial.output).rstrip(".")
            said = f"A kernel of one line cannot be built in the planned environment: {trial.step}: {words}."
            fix = "The toolkit is incomplete or unfit: complete it, or name another one with cuda.toolkit."
            yield findings.error("build-failed", mask(said, plan.secrets), fix=fix)
            return


def _most_telling(output: tuple[str, ...]) -> str:
    """The first line that speaks of an error: compilers count them at the end."""
    named = (line for line in output if any(word in line for word in ("error", "cannot", "fatal", "not found")))
    return next(named, output[-1] if output else "it said nothing").strip()
