"""The plan as one JSON object with `schema_version`: for programs, and for plan.json. Keys are only ever added.

Masked; the same plan gives the same bytes (no times, no sets).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from launcher.errors import worst
from launcher.model import Change, Choice, Finding, Found, Plan, Prediction, Severity, Step, TargetUsed
from launcher.report.masking import masked

SCHEMA_VERSION = 1

Document = dict[str, object]


def plan_document(plan: Plan) -> Document:
    """Everything that `--json` says of a plan."""
    shown = masked(plan)
    return {
        "schema_version": SCHEMA_VERSION,
        "profile": {"name": shown.profile, "file": shown.file},
        "engine": shown.engine,
        "target": _target(shown.target),
        "argv": list(shown.argv),
        "cwd": shown.cwd,
        "env": dict(sorted(shown.env.items())),
        "changes": [_change(change) for change in shown.changes],
        "prepare": [_step(step) for step in shown.prepare],
        "toolkit": toolkit_document(shown.toolkit),
        "predictions": [prediction_document(prediction) for prediction in shown.predictions],
        "findings": [finding_document(finding) for finding in shown.findings],
        "blocked": shown.blocked,
        "exit_code": worst(shown.findings),
    }


def refused_document(reference: str, findings: Iterable[Finding]) -> Document:
    """The same keys where no plan could be made: what is not known is null, what is wrong stands in findings."""
    listed = tuple(findings)
    return {
        "schema_version": SCHEMA_VERSION,
        "profile": {"name": None, "file": reference},
        "engine": None,
        "target": None,
        "argv": [],
        "cwd": None,
        "env": {},
        "changes": [],
        "prepare": [],
        "toolkit": None,
        "predictions": [],
        "findings": [finding_document(finding) for finding in listed],
        "blocked": any(finding.severity is Severity.ERROR for finding in listed),
        "exit_code": worst(listed),
    }


def finding_document(finding: Finding) -> Document:
    """One finding."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "fix": finding.fix,
        "file": finding.file,
        "line": finding.line,
    }


def prediction_document(prediction: Prediction) -> Document:
    """Both lookups of one library; null: could not tell."""
    return {
        "consumer": prediction.consumer,
        "version": prediction.version,
        "callers": found_document(prediction.callers),
        "planned": found_document(prediction.planned),
        "consequence": prediction.consequence,
    }


def found_document(found: Found | None) -> Document | None:
    """What a lookup returns."""
    if found is None:
        return None
    archs = None if found.archs is None else list(found.archs)
    return {"path": found.path, "release": found.release, "archs": archs, "errors": dict(sorted(found.errors.items()))}


def to_json(document: Mapping[str, object]) -> str:
    """One object, indented, with a newline at the end. ASCII: bytes of an odd locale stay readable."""
    return json.dumps(document, indent=2) + "\n"


def _target(target: TargetUsed | None) -> Document | None:
    """`program` stands there only for a target that is a program and has no Python."""
    if target is None:
        return None
    program: Document = {"program": target.program} if target.program is not None else {}
    return {"python": target.python, "how": target.how, **program}


def _change(change: Change) -> Document:
    return {
        "name": change.name,
        "action": change.action,
        "value": change.value,
        "origin": change.origin,
        "because": change.because,
    }


def _step(step: Step) -> Document:
    optional: Document = {"source": step.source} if step.source is not None else {}
    if step.leave_out:
        optional["leave_out"] = list(step.leave_out)
    return {"action": step.action, "path": step.path, "because": step.because, **optional}


def toolkit_document(choice: Choice) -> Document:
    """The one root, and the verdict of each candidate."""
    return {
        "root": choice.root,
        "release": choice.release,
        "strategy": choice.strategy,
        "how": choice.how,
        "because": choice.because,
        "verdicts": [
            {"root": verdict.root, "fits": verdict.fits, "because": verdict.because} for verdict in choice.verdicts
        ],
    }
