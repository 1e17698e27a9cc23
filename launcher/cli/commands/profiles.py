"""`gpulaunch profiles`: what can be named, what a file says, and a copy of one's own to change."""

from __future__ import annotations

import re
from pathlib import Path

import click

from launcher import errors, findings
from launcher.cli import options, story
from launcher.cli.names import Names
from launcher.cli.screen import Screen
from launcher.errors import Refused
from launcher.profile.catalogue import list_profiles
from launcher.profile.lookup import is_path, locate
from launcher.report.document import to_json
from launcher.report.profiles import profile_lines, profiles_document


@click.group(cls=Names, reserved=("validate", "diff"), subcommand_metavar="list|show|copy ...")
@options.screen_options
def command() -> None:
    """Profiles: list them, show one, copy one to change it."""


@command.command("list", cls=options.Command)
@options.json_option
@options.screen_options
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> int:
    """Every profile that can be named, in the order in which names are looked up."""
    screen: Screen = ctx.obj
    listed = list_profiles(story.here().places)
    if as_json:
        screen.write(to_json(profiles_document(listed)))
    else:
        screen.show(profile_lines(listed))
    return errors.OK


@command.command("show", cls=options.Command)
@click.argument("profile")
@options.screen_options
@click.pass_context
def show(ctx: click.Context, profile: str) -> int:
    """Prints a profile's file as it stands; `gpulaunch explain` says what it comes to."""
    ctx.obj.write(_text(_file(profile)))
    return errors.OK


@command.command("copy", cls=options.Command)
@click.argument("profile")
@click.argument("to", required=False)
@options.screen_options
@click.pass_context
def copy(ctx: click.Context, profile: str, to: str | None) -> int:
    """Copies a profile to change it. TO is a new name in your own profile folder, or a path; else the name stays."""
    source = _file(profile)
    path = _destination(to or source.stem)
    text = re.sub(r"(?m)^name:.*$", f"name: {path.stem}", _text(source), count=1)
    if path.exists():
        fix = f"Say another name: gpulaunch profiles copy {profile} NAME"
        raise Refused([findings.error("already-there", f"{path} is there already.", fix=fix)])
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with path.open("x", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        raise Refused([findings.error("cannot-write", f"{path} cannot be written: {error.strerror}.")]) from None
    ctx.obj.write(f"{path}\n")
    return errors.OK


def _file(reference: str) -> Path:
    at = story.here()
    return locate(reference, places=at.places, relative_to=at.cwd).path


def _text(path: Path) -> str:
    """Raises Refused for a file that cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        raise Refused([findings.error("profile-not-found", f"{path}: there is no such file.")]) from None
    except OSError as error:
        raise Refused([findings.error("profile-unreadable", f"{path} cannot be read: {error.strerror}.")]) from None


def _destination(to: str) -> Path:
    """A path as it is; a name stands in the caller's own profile folder, which comes before the system's."""
    at = story.here()
    if is_path(to):
        return Path(at.cwd, Path(to).expanduser())
    return Path(at.places.profiles[0], f"{to}.yaml")
