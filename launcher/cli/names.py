"""A group of commands that knows what to say of a name it does not have: the nearest, the list, or "later"."""

from __future__ import annotations

from typing import Any

import click

from launcher import __version__
from launcher.cli.usage import nearest_and_all
from launcher.errors import UsageError


class Names(click.Group):
    """`reserved` are names that come with a later version."""

    def __init__(self, *args: Any, reserved: tuple[str, ...] = (), **rest: Any) -> None:
        super().__init__(*args, **{"no_args_is_help": False, **rest})
        self.reserved = reserved

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Raises UsageError with one sentence."""
        name, known = args[0], self.list_commands(ctx)
        where = ctx.command_path.removeprefix("gpulaunch").strip()
        called = f"{where} {name}".strip()
        if name in self.reserved:
            raise UsageError(f"{called} comes with a later version of gpulaunch (this is {__version__}).")
        if name not in known:
            raise UsageError(f"there is no command {called!r}: {nearest_and_all(name, known)}.")
        return name, self.get_command(ctx, name), args[1:]
