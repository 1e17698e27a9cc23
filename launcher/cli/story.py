"""The story that every command tells, some of them stopped early: load, look, plan, carry out.

No special cases: what differs from machine to machine is in the facts, what differs from engine to engine in the plan.
"""

from __future__ import annotations

import os
import platform
import pwd
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from launcher import facts as looking
from launcher import findings, instances, leftovers, runs
from launcher.cli import afresh, early, starting
from launcher.cli.screen import Screen
from launcher.cli.second_half import SecondHalf, telling_why_not
from launcher.engines import ENGINES
from launcher.errors import TRY_AGAIN, Refused, UsageError, worst
from launcher.facts import document as facts_files
from launcher.model import Facts, Finding, Plan, Request, Severity
from launcher.paths import Places, places
from launcher.planning import make_plan
from launcher.preflight import last_moment
from launcher.preflight.devices import await_gpus
from launcher.preflight.moment import Moment
from launcher.prepare import carry_out_steps
from launcher.profile.asked import Asked
from launcher.profile.load import load_profile
from launcher.report import launch as launch_report
from launcher.report.document import plan_document
from launcher.report.findings import finding_lines
from launcher.verify import comparison_findings, verify_once


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What the command line asks for. `engine` None: the profile's own."""

    profile: str
    engine: str | None = None
    target: str | None = None
    facts_file: str | None = None
    request: Request = field(default_factory=Request)
    instance: str | None = None  # None: the profile's name
    replace: bool = False  # take over from the one that runs


@dataclass(frozen=True, kw_only=True)
class Here:
    """Where we were called: read once, handed on from here."""

    environ: Mapping[str, str]
    cwd: str
    uid: int | None  # who will run the server; None where nobody will
    places: Places


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A plan with what it was made from."""

    plan: Plan
    facts: Facts
    asked: Asked


def here() -> Here:
    """Our own surroundings."""
    environ, uid = dict(os.environ), os.getuid()
    return Here(environ=environ, cwd=_cwd(), uid=uid, places=places(environ, home=_home(uid), uid=uid))


def planned(wish: Wish, at: Here, *, say: Callable[[str], None] | None = None) -> Planned:
    """Load, look, plan. Raises Refused for a profile or a facts file that cannot be used. With `say` GPUs that are
    still to appear are waited for, as long as the profile wants.
    """
    if wish.facts_file is None:
        asked = _load(wish, at)
        if say is not None:
            await_gpus(asked.profile.gpus, say)
        engine = ENGINES[asked.profile.engine]
        facts = looking.look(asked, environ=at.environ, cwd=at.cwd, target=wish.target, engine_packages=engine.PACKAGES)
    else:
        facts = _from_file(wish.facts_file, wish.target)
        asked = _load(wish, _there(at, facts))
    return Planned(plan=make_plan(asked, facts, wish.request), facts=facts, asked=asked)


def facts_alone(profile: str | None, target: str | None, facts_file: str | None, at: Here) -> Facts:
    """What is here, without a plan: for a profile's target, for the one named, or for none."""
    if facts_file is not None:
        return _from_file(facts_file, target)
    asked = _load(Wish(profile=profile), at) if profile is not None else None
    packages = ENGINES[asked.profile.engine].PACKAGES if asked else ()
    return looking.look(asked, environ=at.environ, cwd=at.cwd, target=target, engine_packages=packages)


def checked(wish: Wish, at: Here) -> Planned:
    """The plan with every check that only reads, also those that ask the machine once more."""
    made = planned(wish, at)
    if wish.facts_file is not None:
        return made
    wanted = starting.wanted(made.plan, made.asked.profile, wish.instance)
    held = instances.conflicts(at.places.locks, wanted)
    if wish.replace and any(finding.code == "instance-running" for finding in held):
        # What that one holds will be free by then.
        found = (*_whatever_is_held(made), *leftovers.at_start(at.places))
        return replace(made, plan=with_findings(made.plan, found))
    return _asked_again(made, at, held)


def launch(
    wish: Wish, host: str, at: Here, screen: Screen, *, verify: bool = True, again: Sequence[str] | None = None
) -> int:
    """The whole story. Returns the exit code of the launch. Not `verify`: the libraries in the target are not asked.

    `again`: `afresh.command_line`; None: it is not executed.
    """
    require_linux(platform.system())
    early.listen()
    made = planned(wish, at, say=screen.say)
    run_id = runs.new_id()
    with _claimed(made, wish, at, screen, run_id) as claim:
        made = _asked_again(made, at, claim.findings)
        plan = made.plan
        screen.tell(launch_report.before(plan, wish.profile, verbose=screen.verbose, quiet=screen.quiet))
        if plan.blocked:
            return worst(plan.findings)
        run = runs.open_run(
            plan.profile, at.places, plan_document(plan), run_id=run_id, instance=wish.instance or plan.profile
        )
        screen.tell(launch_report.opened(run.log_path, run.findings, quiet=screen.quiet))
        half = SecondHalf(host=host, plan=plan, run=run, claim=claim)
        with telling_why_not(run, plan):
            _prepare(made, at, screen, verify=verify)
        if host == "become":
            claim.keep_through_exec()
        elif again is not None:
            afresh.go_on(half, screen, again)
        return half.carry_out(at.environ, screen)


def _claimed(made: Planned, wish: Wish, at: Here, screen: Screen, run_id: str) -> instances.Claim:
    """The instance's name, its GPUs and its port, until the run is over; nothing where the plan is blocked already:
    whoever runs now is not stopped for a plan that cannot start.
    """
    if made.plan.blocked or (wish.replace and not _could_start(made)):
        return instances.Claim()
    name = wish.instance or made.plan.profile
    who = instances.claimant(name, made.plan.profile, run_id)
    wanted = starting.wanted(made.plan, made.asked.profile, name)
    return starting.claim(at.places, who, wanted, take_over=wish.replace, say=screen.say)


def _asked_again(made: Planned, at: Here, so_far: Iterable[Finding]) -> Planned:
    """With what is found in the last moment; where somebody else has what we want, nothing more is asked."""
    found = tuple(so_far)
    if not any(finding.severity is Severity.ERROR for finding in found):
        found += (*_last_moment(made), *leftovers.at_start(at.places))
    return replace(made, plan=with_findings(made.plan, found))


def _last_moment(made: Planned) -> tuple[Finding, ...]:
    return last_moment(Moment(plan=made.plan, profile=made.asked.profile, facts=made.facts))


def _whatever_is_held(made: Planned) -> tuple[Finding, ...]:
    """What is found in the last moment, but for what somebody else holds now."""
    return tuple(finding for finding in _last_moment(made) if finding.exit_code != TRY_AGAIN)


def _could_start(made: Planned) -> bool:
    """True if nothing hinders it but what somebody else holds now."""
    return all(finding.severity is not Severity.ERROR for finding in _whatever_is_held(made))


def _prepare(made: Planned, at: Here, screen: Screen, *, verify: bool) -> None:
    """What must exist, and what the libraries themselves say. Raises Refused."""
    for step in made.plan.prepare:
        if step.action == "provision":
            screen.say(f"making {step.because}")
    carry_out_steps(made.plan.prepare)
    if verify:
        _verify(made, at, screen)


def with_findings(plan: Plan, more: Iterable[Finding]) -> Plan:
    """The plan with more findings: errors first, as before."""
    order = tuple(reversed(Severity))
    every = sorted((*plan.findings, *more), key=lambda finding: order.index(finding.severity))
    return replace(plan, findings=tuple(every))


def require_linux(system: str) -> None:
    """Supervision needs /proc, sub-reapers and pidfds. Raises Refused on another system."""
    if system != "Linux":
        sentence = f"A launch needs Linux, and this is {system}; commands that only read work here."
        raise Refused([findings.error("not-linux", sentence)])


def _from_file(path: str, target: str | None) -> Facts:
    """Another machine's facts, which name their target themselves."""
    if target is not None:
        raise UsageError("--target looks at this machine and --facts does not: leave one of them out.")
    return facts_files.load(path)


def _there(at: Here, facts: Facts) -> Here:
    """The machine that a facts file describes: its variables and its ~ count, and nobody runs anything on this one."""
    places = replace(at.places, home=facts.host.home)
    return replace(at, environ=facts.caller.environ, places=places, uid=None)


def _load(wish: Wish, at: Here) -> Asked:
    """The profile, for the engine that was asked for."""
    asked = load_profile(wish.profile, environ=at.environ, places=at.places, cwd=at.cwd, uid=at.uid)
    if wish.engine is not None and wish.engine != asked.profile.engine:
        raise UsageError(
            f"{asked.file} is a profile for {asked.profile.engine}, not for {wish.engine}: "
            f"gpulaunch {asked.profile.engine} --profile {wish.profile}"
        )
    return asked


def _verify(made: Planned, at: Here, screen: Screen) -> None:
    """Asks the libraries themselves, once for each changed environment. Raises Refused where one contradicts."""
    say = _quietly if screen.quiet else screen.say
    found = tuple(comparison_findings(verify_once(made.plan, made.facts, at.places.cache, say), made.plan))
    wrong = tuple(finding for finding in found if finding.severity is Severity.ERROR)
    screen.tell(finding_lines(finding for finding in found if finding not in wrong))
    if wrong:
        raise Refused(wrong)


def _quietly(sentence: str) -> None:
    """Nothing is said."""


def _cwd() -> str:
    """A working folder that was removed meanwhile has no name; / has one."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "/"


def _home(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_dir
    except KeyError:
        return None
