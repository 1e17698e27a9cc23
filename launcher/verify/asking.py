"""Asks the libraries in the target what they find, each in a process of its own, under one environment or both."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from launcher import probes
from launcher.caches import VARIABLES
from launcher.consumers import CONSUMERS
from launcher.model import Comparison, Facts, Plan, Prediction
from launcher.verify.comparing import Environment, NoAnswer, compare, could_not_tell, read_answer
from launcher.verify.running import Ended, Job, run_all

PATIENCE = 60.0  # seconds for each library: torch alone takes ten from a cold disk
AT_ONCE = 4  # each imports torch: half a GiB
_PROBES = {consumer.NAME: consumer.PROBE for consumer in CONSUMERS}


@dataclass(frozen=True)
class _Question:
    prediction: Prediction
    environment: Environment
    job: Job


def askable(plan: Plan) -> tuple[Prediction, ...]:
    """The predictions that a probe can prove; empty: the target need not be run."""
    if plan.target is None or plan.target.python is None:
        return ()
    return tuple(prediction for prediction in plan.predictions if _PROBES.get(prediction.consumer))


def compare_all(
    plan: Plan,
    facts: Facts,
    environments: tuple[Environment, ...] = ("planned",),
    *,
    patience: float = PATIENCE,
) -> tuple[Comparison, ...]:
    """One comparison for each library and environment. `patience` in seconds for each question."""
    try:
        return _compare_all(plan, facts, environments, patience)
    except OSError as error:  # no room for a temporary file, no process any more
        because = f"it could not be asked: {error.strerror or error}"
        return tuple(
            could_not_tell(prediction, environment, because, lasting=False)
            for prediction in askable(plan)
            for environment in environments
        )


def _compare_all(
    plan: Plan, facts: Facts, environments: tuple[Environment, ...], patience: float
) -> tuple[Comparison, ...]:
    with tempfile.TemporaryDirectory(prefix="gpulaunch-", ignore_cleanup_errors=True) as folder:
        questions = [
            _Question(prediction, environment, _job(plan, facts, prediction, environment, folder))
            for prediction in askable(plan)
            for environment in environments
        ]
        ended = run_all([question.job for question in questions], at_once=_at_once(), patience=patience)
    return tuple(_judged(question, one, bool(facts.gpus)) for question, one in zip(questions, ended, strict=True))


def _at_once() -> int:
    return max(1, min(AT_ONCE, os.cpu_count() or 1))


def _job(plan: Plan, facts: Facts, prediction: Prediction, environment: Environment, folder: str) -> Job:
    assert plan.target is not None and plan.target.python is not None
    script = Path(probes.__file__).with_name(_PROBES[prediction.consumer] or "")
    env = dict(plan.env) if environment == "planned" else _callers(facts.caller.environ, folder)
    env.pop("PYTHONSAFEPATH", None)  # a probe finds what lies beside it
    cwd = plan.cwd if environment == "planned" else facts.caller.cwd
    # -B: nothing is written into the target, nor beside our own files.
    return Job(words=(plan.target.python, "-B", str(script)), env=env, cwd=cwd if Path(cwd).is_dir() else folder)


def _callers(environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """What a library writes while it is asked goes into a folder that we remove."""
    return {**environ, **dict.fromkeys(VARIABLES, folder)}


def _judged(question: _Question, ended: Ended, gpus_here: bool) -> Comparison:
    if ended.code is None:
        return could_not_tell(question.prediction, question.environment, ended.trouble, lasting=False)
    if ended.code != 0:
        return could_not_tell(question.prediction, question.environment, _last_words(ended))
    try:
        found = read_answer(ended.out)
    except NoAnswer as no_answer:
        return could_not_tell(question.prediction, question.environment, str(no_answer))
    return compare(question.prediction, question.environment, found, gpus_here=gpus_here)


def _last_words(ended: Ended) -> str:
    lines = ended.err.strip().splitlines()
    code = ended.code or 0
    how = f"it ended with {code}" if code > 0 else f"it was killed by signal {-code}"
    return f"{how}: {lines[-1].strip()}" if lines else how
