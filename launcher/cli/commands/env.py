"""`gpulaunch env`: the server's environment as text, or a command of the operator's inside it.

The command replaces us: no process of ours is left, and its exit code is its own; ours are those of env(1).
"""

from __future__ import annotations

import shlex

import click

from launcher import errors, secrets
from launcher.cli import options, story
from launcher.cli.inside import become
from launcher.cli.screen import Screen
from launcher.errors import Refused, UsageError
from launcher.model import Finding, Plan, Severity
from launcher.prepare import carry_out_steps
from launcher.report.document import to_json
from launcher.report.findings import finding_lines
from launcher.report.masking import masked


@click.command(cls=options.Command, after_dashes="COMMAND")
@options.profile_option
@options.target_option
@options.once_options
@options.facts_option
@click.option("--format", "form", type=click.Choice(["shell", "json"]), help="How it is printed; shell by default.")
@click.option("--with-secrets", is_flag=True, help="Print secrets too (shell): for eval and files of your own.")
@options.screen_options
@click.pass_context
def command(
    ctx: click.Context,
    profile: str | None,
    target: str | None,
    env: tuple[str, ...],
    keep_env: tuple[str, ...],
    facts_file: str | None,
    form: str | None,
    with_secrets: bool,
) -> int:
    """Prints the environment that the server gets, or runs COMMAND inside it: also where a launch would be blocked.

    COMMAND keeps your working folder and your terminal, gets the real secrets, and replaces gpulaunch.
    """
    screen: Screen = ctx.obj
    words = options.after_dashes(ctx)
    if facts_file is not None and (words or with_secrets):
        raise UsageError("env: --facts describes another machine, without its secrets: it can only be printed, masked.")
    if with_secrets and form == "json":
        raise UsageError("env: --with-secrets belongs to --format shell; json always shows ***.")
    if words and form is not None:
        raise UsageError("env: --format prints the environment; a COMMAND gets it.")
    wish = story.Wish(
        profile=options.required_profile(profile),
        target=target,
        facts_file=facts_file,
        request=options.request(env, keep_env),
    )
    made = story.planned(wish, story.here())
    screen.tell(finding_lines(_worth_saying(masked(made.plan), screen)))
    if words:
        return _run(words, made.plan)
    _print(made.plan, form or "shell", screen, with_secrets=with_secrets)
    return errors.OK


def _worth_saying(shown: Plan, screen: Screen) -> list[Finding]:
    return [finding for finding in shown.findings if not screen.quiet or finding.severity is Severity.ERROR]


def _run(words: tuple[str, ...], plan: Plan) -> int:
    """Carries out the steps, so that the folders on the planned PATH are there, then becomes the command."""
    try:
        carry_out_steps(plan.prepare)
    except Refused as refused:
        refused.exit_code = errors.LAUNCHER_FAILED  # as env(1): its own part failed, not the command
        raise
    return become(words, plan.env, plan.limits)


def _print(plan: Plan, form: str, screen: Screen, *, with_secrets: bool) -> None:
    if form == "json":
        screen.write(to_json(dict(sorted(masked(plan).env.items()))))
        return
    # By name, and a copy of a secret under another name.
    secret = {change.name for change in plan.changes if change.secret and change.value is not None}
    secret |= {name for name, value in plan.env.items() if secrets.mask(value, plan.secrets) != value}
    left_out = set() if with_secrets else secret
    screen.write("".join(_export(name, value) for name, value in sorted(plan.env.items()) if name not in left_out))
    if left_out:
        screen.say(f"left out, as they are secret: {', '.join(sorted(left_out))} (--with-secrets prints them)")


def _export(name: str, value: str) -> str:
    return f"export {name}={shlex.quote(value)}\n"
