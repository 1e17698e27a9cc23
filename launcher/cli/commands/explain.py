"""`gpulaunch explain --profile P`: the whole story for people; `gpulaunch explain CODE`: what is behind a finding."""

from __future__ import annotations

import click

from launcher import errors
from launcher.cli import options, story
from launcher.cli.answers import answering
from launcher.cli.screen import Screen
from launcher.cli.usage import nearest
from launcher.errors import UsageError
from launcher.explanations import CATALOGUE
from launcher.report.document import plan_document, to_json
from launcher.report.explanation import explanation_lines
from launcher.report.plan import plan_lines


@click.command(cls=options.Command, after_dashes="ENGINE FLAGS")
@click.argument("code", required=False)
@options.profile_option
@options.target_option
@options.once_options
@options.facts_option
@options.json_option
@options.screen_options
@click.pass_context
def command(
    ctx: click.Context,
    code: str | None,
    profile: str | None,
    target: str | None,
    env: tuple[str, ...],
    keep_env: tuple[str, ...],
    facts_file: str | None,
    as_json: bool,
) -> int:
    """Tells what would run, with which toolkit and why: the environment line by line, the command, what is wrong.

    With a CODE (they stand in brackets after findings): its cause, its evidence and its fix.
    """
    if code is not None:
        if profile is not None:
            raise UsageError("explain: name a CODE or a --profile, not both.")
        return _explain_code(code, ctx.obj)
    wish = story.Wish(
        profile=options.required_profile(profile),
        target=target,
        facts_file=facts_file,
        request=options.request(env, keep_env, options.after_dashes(ctx)),
    )
    return _explain_plan(wish, ctx.obj, as_json=as_json)


def _explain_code(code: str, screen: Screen) -> int:
    if code not in CATALOGUE:
        close = nearest(code, CATALOGUE)
        guess = f"did you mean {close}?" if close else "codes stand in brackets behind findings."
        raise UsageError(f"explain: there is no code {code!r}: {guess}")
    screen.show(explanation_lines(code, CATALOGUE[code]))
    return errors.OK


def _explain_plan(wish: story.Wish, screen: Screen, *, as_json: bool) -> int:
    with answering(screen, wish.profile, as_json=as_json):
        made = story.checked(wish, story.here())
        if as_json:
            screen.write(to_json(plan_document(made.plan)))
        else:
            screen.show(plan_lines(made.plan, made.asked.profile.description))
    return errors.OK
