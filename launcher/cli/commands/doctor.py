"""`gpulaunch doctor --profile P`: the chain from symptom to cause, and a launch's exit code.

Without --verify and --build it only reads; with them the plan's steps are carried out (in our own cache), and the
target's own interpreter, or a compiler, is run.
"""

from __future__ import annotations

import click

from launcher.cli import options, story
from launcher.cli.answers import answering
from launcher.cli.screen import Screen
from launcher.diagnosis import diagnose
from launcher.errors import worst
from launcher.report.doctor import doctor_lines
from launcher.report.doctor_document import doctor_document, refused_doctor_document
from launcher.report.document import to_json


@click.command(cls=options.Command)
@options.profile_option
@options.target_option
@options.facts_option
@options.json_option
@options.screen_options
@click.pass_context
def command(
    ctx: click.Context,
    profile: str | None,
    target: str | None,
    facts_file: str | None,
    as_json: bool,
) -> int:
    """Tells what your environment leads each library to and why that is wrong, what the server gets instead, and what
    each library will then find. Fit to be attached to an issue: secrets are masked.

    Exits with 0 where nothing is wrong, else with the code that a launch would have.
    """
    screen: Screen = ctx.obj
    wish = story.Wish(profile=options.required_profile(profile), target=target, facts_file=facts_file)
    with answering(screen, wish.profile, as_json=as_json, document=refused_doctor_document):
        made = story.checked(wish, story.here())
        diagnosis = diagnose(made.plan, made.facts)
        if as_json:
            screen.write(to_json(doctor_document(diagnosis, None, None)))
        else:
            screen.show(doctor_lines(diagnosis, None, None))
        return worst(diagnosis.plan.findings)
