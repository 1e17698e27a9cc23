"""`gpulaunch facts`: what is known of this machine and the target. With --json, the file that --facts takes."""

from __future__ import annotations

import click

from launcher import errors
from launcher.cli import options, story
from launcher.cli.screen import Screen
from launcher.facts import document
from launcher.report.machine import machine_lines


@click.command(cls=options.Command)
@options.profile_option
@options.target_option
@options.facts_option
@options.json_option
@options.screen_options
@click.pass_context
def command(ctx: click.Context, profile: str | None, target: str | None, facts_file: str | None, as_json: bool) -> int:
    """Looks at this machine and the target (of --profile or --target) without running anything in it.

    With --json it writes the file that --facts takes elsewhere; secrets in it are masked.
    """
    screen: Screen = ctx.obj
    facts = story.facts_alone(profile, target, facts_file, story.here())
    if as_json:
        screen.write(document.dump(facts))
    else:
        screen.show(machine_lines(facts))
    return errors.OK
