"""`gpulaunch check --profile P`, which is also --dry-run: every check that only reads, and a launch's exit code."""

from __future__ import annotations

import click

from launcher.cli import options, story
from launcher.cli.answers import answering
from launcher.cli.by_hand import by_hand
from launcher.cli.screen import Screen
from launcher.errors import worst
from launcher.report.document import plan_document, to_json
from launcher.report.dry_run import dry_run_lines


@click.command(cls=options.Command, after_dashes="ENGINE FLAGS")
@options.profile_option
@options.target_option
@options.once_options
@options.facts_option
@options.json_option
@options.screen_options
@click.pass_context
def command(
    ctx: click.Context,
    profile: str | None,
    target: str | None,
    env: tuple[str, ...],
    keep_env: tuple[str, ...],
    facts_file: str | None,
    as_json: bool,
) -> int:
    """Runs every check of a launch and starts nothing: the command, the environment's difference, the findings.

    Exits with the code that the launch would have.
    """
    wish = story.Wish(
        profile=options.required_profile(profile),
        target=target,
        facts_file=facts_file,
        request=options.request(env, keep_env, options.after_dashes(ctx)),
    )
    return show_check(wish, ctx.obj, as_json=as_json)


def show_check(wish: story.Wish, screen: Screen, *, as_json: bool) -> int:
    """The same for `check` and for a launch with --dry-run."""
    with answering(screen, wish.profile, as_json=as_json):
        made = story.checked(wish, story.here())
        if as_json:
            screen.write(to_json(plan_document(made.plan)))
        else:
            screen.show(dry_run_lines(made.plan, made.facts.caller.environ, by_hand(wish, made)))
        return worst(made.plan.findings)
