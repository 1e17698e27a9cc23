"""Plan to the same plan with *** in place of every secret. Every report starts here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from launcher.model import (
    Change,
    Choice,
    Endpoint,
    Finding,
    Found,
    Outcome,
    PathEntry,
    Plan,
    Prediction,
    Readiness,
    Step,
    TargetUsed,
    Verdict,
)
from launcher.secrets import MASK, is_secret_name, mask


def masked(plan: Plan) -> Plan:
    """The plan as it may be shown. Its `secrets` stay, so that it can be masked again."""
    hide = _Mask(plan)
    return replace(
        plan,
        profile=hide.text(plan.profile),
        file=hide.text(plan.file),
        target=hide.target(plan.target),
        argv=tuple(hide.argument(position, token) for position, token in enumerate(plan.argv)),
        cwd=hide.text(plan.cwd),
        env={name: hide.variable(name, value) for name, value in plan.env.items()},
        changes=tuple(hide.change(change) for change in plan.changes),
        prepare=tuple(hide.step(step) for step in plan.prepare),
        toolkit=hide.choice(plan.toolkit),
        findings=tuple(hide.finding(finding) for finding in plan.findings),
        predictions=tuple(hide.prediction(prediction) for prediction in plan.predictions),
        search_path=tuple(hide.entry(entry) for entry in plan.search_path),
        endpoint=hide.endpoint(plan.endpoint),
        ready=hide.readiness(plan.ready),
    )


def masked_outcome(outcome: Outcome, secrets: frozenset[str]) -> Outcome:
    """The outcome as it may be shown: what the server has said may hold anything."""
    return replace(
        outcome,
        cause=mask(outcome.cause, secrets),
        fix=mask(outcome.fix, secrets) if outcome.fix else outcome.fix,
        last_lines=tuple(mask(line, secrets) for line in outcome.last_lines),
    )


def hidden(plan: Plan, environ: Mapping[str, str]) -> frozenset[str]:
    """The plan's secrets and those of the caller's environment, which a plan that drops them does not know."""
    return plan.secrets | {value for name, value in environ.items() if is_secret_name(name)}


class _Mask:
    """What this plan's secrets are. A short one is masked where it stands alone, not inside other texts."""

    def __init__(self, plan: Plan) -> None:
        self.secrets = plan.secrets
        self.secret_arguments = plan.secret_arguments
        self.secret_names = frozenset(change.name for change in plan.changes if change.secret)

    def text(self, text: str) -> str:
        return MASK if text in self.secrets else mask(text, self.secrets)

    def optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def argument(self, position: int, token: str) -> str:
        if position not in self.secret_arguments:
            return self.text(token)
        name, equals, _ = token.partition("=")
        return f"{name}={MASK}" if equals and name.startswith("--") else MASK

    def variable(self, name: str, value: str) -> str:
        return MASK if name in self.secret_names else self.text(value)

    def change(self, change: Change) -> Change:
        value = change.value
        shown = None if value is None else MASK if change.secret else self.text(value)
        return replace(change, value=shown, because=self.text(change.because))

    def step(self, step: Step) -> Step:
        path, source = self.text(step.path), self.optional(step.source)
        return replace(step, path=path, source=source, because=self.text(step.because))

    def target(self, target: TargetUsed | None) -> TargetUsed | None:
        if target is None:
            return None
        return replace(target, python=self.optional(target.python), program=self.optional(target.program))

    def verdict(self, verdict: Verdict) -> Verdict:
        return replace(verdict, root=self.text(verdict.root), because=self.text(verdict.because))

    def choice(self, choice: Choice) -> Choice:
        return replace(
            choice,
            root=self.text(choice.root),
            source=self.optional(choice.source),
            how=self.text(choice.how),
            because=self.text(choice.because),
            verdicts=tuple(self.verdict(verdict) for verdict in choice.verdicts),
        )

    def finding(self, finding: Finding) -> Finding:
        message, fix, file = self.text(finding.message), self.text(finding.fix), self.optional(finding.file)
        return replace(finding, message=message, fix=fix, file=file)

    def prediction(self, prediction: Prediction) -> Prediction:
        return replace(prediction, callers=self.found(prediction.callers), planned=self.found(prediction.planned))

    def found(self, found: Found | None) -> Found | None:
        """A library takes a path by the very words of a variable."""
        return None if found is None else replace(found, path=self.optional(found.path))

    def entry(self, entry: PathEntry) -> PathEntry:
        return replace(entry, path=self.text(entry.path), because=self.text(entry.because))

    def endpoint(self, endpoint: Endpoint | None) -> Endpoint | None:
        return None if endpoint is None else replace(endpoint, host=self.text(endpoint.host))

    def readiness(self, ready: Readiness | None) -> Readiness | None:
        return None if ready is None else replace(ready, url=self.text(ready.url))
