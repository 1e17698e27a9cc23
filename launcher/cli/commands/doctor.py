"""`gpulaunch doctor --profile P`: the chain from symptom to cause, and a launch's exit code.

Without --verify and --build it only reads; with them the plan's steps are carried out (in our own cache), and the
target's own interpreter, or a compiler, is run.
"""

from __future__ import annotations

from dataclasses import dataclass

import click

from launcher.cli import early, options, story
from launcher.cli.answers import answering
from launcher.cli.screen import Screen
from launcher.diagnosis import diagnose
from launcher.errors import Refused, UsageError, worst
from launcher.model import Comparison, Finding, Trial
from launcher.prepare import carry_out_steps
from launcher.report.doctor import doctor_lines
from launcher.report.doctor_document import doctor_document, refused_doctor_document
from launcher.report.document import to_json
from launcher.verify import build_findings, compare_all, comparison_findings, try_build


@click.command(cls=options.Command)
@options.profile_option
@options.target_option
@options.facts_option
@click.option("--verify", is_flag=True, help="Ask each library in the target what it finds, and compare.")
@click.option("--build", is_flag=True, help="Compile and link a kernel of one line with the libraries' own flags.")
@options.json_option
@options.screen_options
@click.pass_context
def command(
    ctx: click.Context,
    profile: str | None,
    target: str | None,
    facts_file: str | None,
    verify: bool,
    build: bool,
    as_json: bool,
) -> int:
    """Tells what your environment leads each library to and why that is wrong, what the server gets instead, and what
    each library will then find. Fit to be attached to an issue: secrets are masked.

    Exits with 0 where nothing is wrong, else with the code that a launch would have.
    """
    screen: Screen = ctx.obj
    if facts_file is not None and (verify or build):
        raise UsageError(
            "doctor: --facts describes another machine: nothing can be run there; leave --verify and --build out."
        )
    wish = story.Wish(profile=options.required_profile(profile), target=target, facts_file=facts_file)
    with answering(screen, wish.profile, as_json=as_json, document=refused_doctor_document), early.ending_a_query():
        made = story.checked(wish, story.here())
        tried = _try(made, verify=verify, build=build)
        diagnosis = diagnose(story.with_findings(made.plan, tried.findings), made.facts)
        if as_json:
            screen.write(to_json(doctor_document(diagnosis, tried.comparisons, tried.trials)))
        else:
            screen.show(doctor_lines(diagnosis, tried.comparisons, tried.trials))
        return worst(diagnosis.plan.findings)


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """What was run; None: it was not asked for."""

    comparisons: tuple[Comparison, ...] | None = None
    trials: tuple[Trial, ...] | None = None
    findings: tuple[Finding, ...] = ()


def _try(made: story.Planned, *, verify: bool, build: bool) -> _Tried:
    """What the plan makes must be there: where it cannot be made nothing is run, and that is a finding like others."""
    if not (verify or build):
        return _Tried()
    try:
        carry_out_steps(made.plan.prepare)
    except Refused as refused:
        return _Tried(findings=refused.findings)
    comparisons = compare_all(made.plan, made.facts, ("planned", "callers")) if verify else None
    trials = try_build(made.plan, made.facts) if build else None
    found = (*comparison_findings(comparisons or (), made.plan), *build_findings(trials or (), made.plan))
    return _Tried(comparisons=comparisons, trials=trials, findings=found)
