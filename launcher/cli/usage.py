"""What click says of a command line that it cannot understand, as one sentence of ours. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import click


def sentence(error: click.ClickException) -> str:
    """One sentence: where, what, what next."""
    context = getattr(error, "ctx", None)
    where = context.command_path.removeprefix("gpulaunch").strip() if context else ""
    said = _said(error, takes_flags=bool(context and getattr(context.command, "after_dashes", None)))
    return f"{where}: {said}" if where else said


def _said(error: click.ClickException, *, takes_flags: bool) -> str:
    engine_flags = "; put engine flags after --" if takes_flags else ""
    if isinstance(error, click.NoSuchOption):
        near = f"; did you mean {error.possibilities[0]}?" if error.possibilities else ""
        return f"there is no option {error.option_name}{near}{engine_flags}"
    message = error.format_message().rstrip(".")
    if message == "Missing command" and isinstance(error, click.UsageError) and error.ctx:
        group = error.ctx.command
        return f"which of {', '.join(group.list_commands(error.ctx))}?" if isinstance(group, click.Group) else message
    if message.startswith("Got unexpected extra argument"):
        return f"{message[:1].lower()}{message[1:]}{engine_flags}"
    return f"{message[:1].lower()}{message[1:]}"


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably meant."""
    return next(iter(get_close_matches(word, choices, n=1)), None)


def nearest_and_all(word: str, choices: Iterable[str]) -> str:
    """`did you mean X (of X, Y, Z)`, or the list alone."""
    listed = tuple(choices)
    close = nearest(word, listed)
    return f"did you mean {close}? There are: {', '.join(listed)}" if close else f"there are: {', '.join(listed)}"
