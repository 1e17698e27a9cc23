"""Options that several commands share, and the command class that splits a command line at `--`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from launcher.cli.screen import Screen
from launcher.model import Request

Function = TypeVar("Function", bound=Callable[..., Any])


class Command(click.Command):
    """A command whose `after_dashes` names what follows `--` (None: nothing may); it is found in `ctx.meta`.

    We split the line ourselves: click would take `gpulaunch sglang --profile p foo` for a flag of the engine as well,
    and a typo in an option of ours must never reach the engine.
    """

    def __init__(self, *args: Any, after_dashes: str | None = None, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.after_dashes = after_dashes

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keeps what follows the first `--` apart."""
        if self.after_dashes is not None and "--" in args:
            position = args.index("--")
            ctx.meta[AFTER] = tuple(args[position + 1 :])
            args = args[:position]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """`[OPTIONS] [-- FLAGS]`"""
        pieces = super().collect_usage_pieces(ctx)
        return [*pieces, f"[-- {self.after_dashes}]"] if self.after_dashes else pieces


AFTER = "launcher.after_dashes"


def after_dashes(ctx: click.Context) -> tuple[str, ...]:
    """What followed `--`."""
    found: tuple[str, ...] = ctx.meta.get(AFTER, ())
    return found


def all_of(*decorators: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several decorators as one, in reading order."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _set(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Options of the screen count wherever they stand, before the command or after it."""

    def callback(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            setattr(ctx.ensure_object(Screen), name, True)

    return callback


def _flag(*names: str, sets: str, help: str) -> Callable[[Function], Function]:
    return click.option(*names, is_flag=True, expose_value=False, callback=_set(sets), help=help)


screen_options = all_of(
    _flag("-q", "--quiet", sets="quiet", help="Say less: only what is wrong and what happens."),
    _flag("-v", "--verbose", sets="verbose", help="Say more: notes, and the traceback of a bug."),
    _flag("--no-color", sets="no_color", help="No colours (also NO_COLOR; FORCE_COLOR for the contrary)."),
    click.help_option("-h", "--help"),
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object with schema_version.")
profile_option = click.option("--profile", metavar="P", help="A name, or a path (with a / or ending in .yaml).")
target_option = click.option("--target", metavar="T", help="The environment, interpreter or program that serves.")
facts_option = click.option("--facts", "facts_file", metavar="F", help="Plan for the machine in this file.")
once_options = all_of(
    click.option("--env", "env", metavar="N=V", multiple=True, help="Set a variable of the server, this once."),
    click.option("--keep-env", "keep_env", metavar="N", multiple=True, help="Keep a variable of yours, this once."),
)


def request(env: Sequence[str], keep_env: Sequence[str], flags: Sequence[str] = ()) -> Request:
    """What the operator said once. Raises click.BadParameter for an --env without a name or a value."""
    pairs = []
    for entry in env:
        name, equals, value = entry.partition("=")
        if not name or not equals:
            raise click.UsageError(f"--env takes NAME=VALUE; --keep-env {name or 'NAME'} keeps a variable of yours")
        pairs.append((name, value))
    return Request(env=tuple(pairs), keep_env=tuple(keep_env), flags=tuple(flags))


def required_profile(profile: str | None) -> str:
    """The profile that was named. Raises click.UsageError where none is: --profile is not click's own requirement, so
    that the sentence can say where names come from.
    """
    if profile is None:
        raise click.UsageError("which profile? Say --profile NAME; `gpulaunch profiles list` shows them")
    return profile
