"""The diagnosis as one JSON object with `schema_version`, for programs and issues: masked, keys are only ever added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from launcher.diagnosis import Cause, Diagnosis
from launcher.errors import worst
from launcher.model import Comparison, Facts, Finding, Toolkit, Trial
from launcher.report.document import Document, finding_document, found_document, prediction_document, toolkit_document
from launcher.report.masking import hidden, masked
from launcher.secrets import mask

SCHEMA_VERSION = 1


def doctor_document(
    diagnosis: Diagnosis, comparisons: tuple[Comparison, ...] | None, trials: tuple[Trial, ...] | None
) -> Document:
    """Everything that the text says. `verified` and `built` are null where they were not asked for."""
    plan, facts = masked(diagnosis.plan), diagnosis.facts
    shown = replace(diagnosis, plan=plan)
    document: Document = {
        "schema_version": SCHEMA_VERSION,
        "profile": {"name": plan.profile, "file": plan.file},
        "engine": plan.engine,
        "machine": _machine(facts),
        "target": _target(facts),
        "environment": [
            {"name": variable.name, "callers": variable.callers, "planned": plan.env.get(variable.name)}
            for variable in shown.variables
        ],
        "predictions": [prediction_document(prediction) for prediction in plan.predictions],
        "causes": [_cause(cause) for cause in shown.causes],
        "toolkit": toolkit_document(plan.toolkit),
        "toolkits": [_found_toolkit(toolkit) for toolkit in facts.toolkits],
        "modules": [
            {"package": module.package, "file": module.file, "needs": dict(module.needs)} for module in facts.modules
        ],
        "findings": [finding_document(finding) for finding in plan.findings],
        "could_not_tell": {
            "unknowns": [{"subject": unknown.subject, "because": unknown.because} for unknown in facts.unknowns],
            "packages": [
                {"package": stranger.package, "version": stranger.version, "looks_for": stranger.looks_for}
                for stranger in shown.strangers
            ],
        },
        "verified": None if comparisons is None else [_comparison(comparison) for comparison in comparisons],
        "built": None if trials is None else [_trial(trial) for trial in trials],
        "blocked": plan.blocked,
        "exit_code": worst(plan.findings),
    }
    return _veiled(document, hidden(plan, facts.caller.environ))


def refused_doctor_document(reference: str, findings: Iterable[Finding]) -> Document:
    """The same keys where no plan could be made."""
    listed = tuple(findings)
    return {
        "schema_version": SCHEMA_VERSION,
        "profile": {"name": None, "file": reference},
        "engine": None,
        "machine": None,
        "target": None,
        "environment": [],
        "predictions": [],
        "causes": [],
        "toolkit": None,
        "toolkits": [],
        "modules": [],
        "findings": [finding_document(finding) for finding in listed],
        "could_not_tell": {"unknowns": [], "packages": []},
        "verified": None,
        "built": None,
        "blocked": worst(listed) != 0,
        "exit_code": worst(listed),
    }


def _machine(facts: Facts) -> Document:
    driver = facts.driver
    gpus = None
    if facts.gpus is not None:
        gpus = [{"index": gpu.index, "name": gpu.name, "capability": gpu.capability} for gpu in facts.gpus]
    return {
        "system": facts.host.system,
        "kernel": facts.host.kernel,
        "machine": facts.host.machine,
        "gpulaunch": facts.launcher.version,
        "driver": {"version": driver.version, "cuda": driver.cuda, "how": driver.how} if driver else None,
        "gpus": gpus,
        "edited": list(facts.edited),
    }


def _target(facts: Facts) -> Document | None:
    target = facts.target
    if target is None:
        return None
    return {
        "path": target.path,
        "how": target.how,
        "version": target.version,
        "torch": {"version": target.torch.version, "cuda": target.torch.cuda} if target.torch else None,
    }


def _cause(cause: Cause) -> Document:
    return {
        "path": cause.path,
        "root": cause.root,
        "release": cause.toolkit.release if cause.toolkit else None,
        "consumers": list(cause.consumers),
        "fits": cause.verdict.fits if cause.verdict else None,
        "because": cause.verdict.because if cause.verdict else None,
    }


def _found_toolkit(toolkit: Toolkit) -> Document:
    return {
        "root": toolkit.root,
        "kind": toolkit.kind,
        "found": list(toolkit.found),
        "release": toolkit.release,
        "headers_release": toolkit.headers_release,
        "problem": toolkit.problem,
    }


def _comparison(comparison: Comparison) -> Document:
    return {
        "consumer": comparison.consumer,
        "version": comparison.version,
        "environment": comparison.environment,
        "verdict": comparison.verdict,
        "predicted": found_document(comparison.predicted),
        "found": found_document(comparison.found),
        "because": comparison.because,
    }


def _trial(trial: Trial) -> Document:
    return {"step": trial.step, "command": trial.command, "state": trial.state, "output": list(trial.output)}


def _veiled(document: Mapping[str, object], secrets: frozenset[str]) -> Document:
    """Every text of it."""
    return {key: _veil(value, secrets) for key, value in document.items()}


def _veil(value: object, secrets: frozenset[str]) -> object:
    if isinstance(value, str):
        return mask(value, secrets)
    if isinstance(value, Mapping):
        return _veiled(value, secrets)
    if isinstance(value, list):
        return [_veil(entry, secrets) for entry in value]
    return value
