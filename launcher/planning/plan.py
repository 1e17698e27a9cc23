"""The verb `plan`: Profile and Facts to a Plan, always whole. Each part is decided in a module of its own. Pure."""

from __future__ import annotations

from dataclasses import replace

from launcher import findings
from launcher.checks import CHECKS
from launcher.checks.command import Command
from launcher.consumers import installed
from launcher.engines import ENGINES, Engine
from launcher.gpu_selection import capabilities, used
from launcher.model import (
    Change,
    Endpoint,
    Facts,
    Finding,
    Limit,
    PathEntry,
    Plan,
    Request,
    Step,
    TargetUsed,
)
from launcher.paths import places
from launcher.planning import (
    caching,
    cuda,
    environment,
    gpus,
    host_compiler,
    parallel_builds,
    poisoned,
    predicting,
    search_path,
    secrecy,
    watching,
)
from launcher.planning.choosing import choose
from launcher.planning.repairs import repairs
from launcher.profile.asked import Asked
from launcher.situation import Situation

_NOFILE = 1_048_576  # more makes some libraries walk through every descriptor number


def make_plan(asked: Asked, facts: Facts, request: Request) -> Plan:
    """What we would do, and why. Always a whole plan, however little is known: what stops the launch is a finding."""
    engine = ENGINES[asked.profile.engine]
    situation = _situation(asked, facts, engine)
    situation = replace(situation, choice=choose(situation))
    argv = (*engine.argv(situation), *request.flags)
    endpoint = engine.endpoint(argv, situation)
    draft = _environment(situation, engine, request, endpoint)
    checked = [finding for check in CHECKS for finding in check(situation, Command(argv, endpoint, draft.values))]
    restarts = watching.restarts(situation.profile, facts.systemd)
    checked += watching.watching_findings(situation.profile, restarts, endpoint)
    assert situation.choice is not None
    return Plan(
        profile=asked.profile.name,
        file=asked.file,
        engine=engine.NAME,
        target=_target_used(facts),
        argv=argv,
        cwd=asked.working_folder(facts.caller.cwd),
        env=dict(sorted(draft.values.items())),
        changes=tuple(sorted(draft.changes.values(), key=lambda change: change.name)),
        prepare=tuple(dict.fromkeys(draft.steps)),
        toolkit=situation.choice,
        findings=_ordered((*asked.findings, *facts.findings, *draft.findings, *checked)),
        endpoint=endpoint,
        ready=watching.readiness(situation.profile, engine, endpoint),
        live=watching.liveness(situation.profile, endpoint),
        restarts=restarts,
        logging=watching.logging(situation.profile),
        grace=situation.profile.stop.grace,
        gpus=used(situation.profile, facts) if facts.gpus is not None else None,
        limits=_limits(facts),
        search_path=tuple(
            PathEntry(path=entry.path, because=entry.because)
            for entry in search_path.compose(situation, situation.choice)
        ),
        predictions=predicting.predictions(situation, draft.values, tuple(draft.steps)),
        secrets=secrecy.secret_values(asked, draft.changes.values(), argv),
        secret_arguments=secrecy.secret_positions(argv),
    )


def _situation(asked: Asked, facts: Facts, engine: Engine) -> Situation:
    target = facts.target
    unread = target is None or (target.kind == "python" and target.packages is None)
    packages: dict[str, str | None] = dict.fromkeys(engine.USUAL)
    if target is not None and target.packages is not None:
        packages = dict(target.packages)
    return Situation(
        asked=asked,
        facts=facts,
        places=places(facts.caller.environ, home=facts.host.home, uid=facts.host.uid),
        packages=packages,
        assumed=unread and bool(engine.USUAL),
        capabilities=capabilities(asked.profile, facts),
    )


def _environment(
    situation: Situation, engine: Engine, request: Request, endpoint: Endpoint | None
) -> environment.Draft:
    """The layers in their order. Repairs see what the layers below them came to."""
    choice = situation.choice
    assert choice is not None
    draft = environment.Draft()
    draft.take(environment.from_caller(situation))
    draft.take(environment.from_pass(situation))
    draft.take(cuda.steps(situation, choice))
    draft.take(cuda.variables(situation, choice))
    draft.take(host_compiler.variables(situation, choice))
    draft.take(parallel_builds.variables(situation, choice))
    draft.take(_search_path(situation))
    draft.take(gpus.selection(situation, draft.values))
    for consumer in installed(situation):
        draft.take(consumer.contribute(situation))
    draft.take(caching.variables(situation, request))
    draft.take(engine.contribute(situation))
    draft.take(cuda.about(situation, choice))
    draft.take(repairs(situation, draft.values, endpoint))
    draft.take(environment.from_profile(situation))
    draft.take(environment.from_operator(situation, request))
    draft.take(poisoned.set_aside(situation, draft.values))
    if situation.assumed:
        draft.findings.append(_assumed(situation, engine))
    return draft


def _search_path(situation: Situation) -> list[Change | Step]:
    assert situation.choice is not None
    entries = search_path.compose(situation, situation.choice)
    value = ":".join(entry.path for entry in entries)
    because = "; ".join(f"{entry.path}: {entry.because}" for entry in entries)
    path = Change(name="PATH", action="set", value=value, origin="cuda", because=f"composed, not inherited. {because}")
    return [*(entry.step for entry in entries if entry.step), path]


def _assumed(situation: Situation, engine: Engine) -> Finding:
    return findings.warning(
        "target-unread",
        f"The target could not be read: assumed is what {engine.NAME} usually brings ({', '.join(engine.USUAL)}).",
        fix="Name the Python that serves: --target /path/to/venv.",
    )


def _target_used(facts: Facts) -> TargetUsed | None:
    target = facts.target
    if target is None:
        return None
    is_program = target.kind == "program"
    return TargetUsed(
        python=None if is_program else target.path, program=target.path if is_program else None, how=target.how
    )


def _limits(facts: Facts) -> tuple[Limit, ...]:
    """Soft limits to set: open files, locked memory and processes up to the hard limit; no core files."""
    raised = []
    for limit in facts.limits:
        if limit.name == "NOFILE":
            top = _NOFILE if limit.hard == -1 else min(limit.hard, _NOFILE)
            raised.append(replace(limit, soft=max(top, limit.soft) if limit.soft != -1 else -1))
        elif limit.name in ("MEMLOCK", "NPROC"):
            raised.append(replace(limit, soft=limit.hard))
        elif limit.name == "CORE":
            raised.append(replace(limit, soft=0))
    return tuple(raised)


def _ordered(found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then notes; within one weight as they came, each once."""
    weight = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(dict.fromkeys(found), key=lambda finding: weight[finding.severity.value]))
