"""`gpulaunch ENGINE --profile P`: start the server and stay with it, or show what would be done (--dry-run)."""

from __future__ import annotations

import click

from launcher.cli import afresh, options, story
from launcher.cli.commands.check import show_check
from launcher.cli.screen import Screen
from launcher.errors import UsageError
from launcher.instances import NAME


def _name(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not NAME.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no name: letters, digits, dots, dashes and underscores")
    return value


@click.command(cls=options.Command, after_dashes="ENGINE FLAGS")
@options.profile_option
@options.target_option
@options.once_options
@click.option("--name", "instance", metavar="NAME", callback=_name, help="Of this instance; by default the profile's.")
@click.option("--replace", "take_over", is_flag=True, help="Stop the instance of this name that runs, and take over.")
@click.option("--dry-run", is_flag=True, help="Start nothing: every check, the command, the environment's difference.")
@click.option("--exec", "become", is_flag=True, help="Become the server instead of supervising it.")
@click.option("--no-verify", is_flag=True, help="Do not ask the libraries in the target what they find.")
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
    instance: str | None,
    take_over: bool,
    dry_run: bool,
    become: bool,
    no_verify: bool,
    facts_file: str | None,
    as_json: bool,
) -> int:
    """Starts the server that the profile describes and stays until its last process is gone.

    Engine flags follow -- and win over the profile's args.
    """
    screen: Screen = ctx.obj
    request = options.request(env, keep_env, options.after_dashes(ctx))
    wish = story.Wish(
        profile=options.required_profile(profile),
        engine=ctx.info_name,
        target=target,
        facts_file=facts_file,
        request=request,
        instance=instance,
        replace=take_over,
    )
    if dry_run:
        return show_check(wish, screen, as_json=as_json)
    if facts_file is not None:
        raise UsageError(f"{ctx.info_name}: --facts describes another machine: add --dry-run, or leave it out.")
    if as_json:
        raise UsageError(f"{ctx.info_name}: --json belongs to a query: add --dry-run, or leave it out.")
    again = ctx.meta.get(afresh.AGAIN)
    host = "become" if become else "here"
    return story.launch(wish, host, story.here(), screen, verify=not no_verify, again=again)
