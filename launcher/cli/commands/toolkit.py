"""`gpulaunch toolkit`: CUDA toolkits of gpulaunch's own, made from NVIDIA's wheels; no root and no target needed."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from launcher import errors, findings, pinned_wheels
from launcher.cli import options, story
from launcher.cli.names import Names
from launcher.cli.screen import Screen
from launcher.errors import Refused, UsageError
from launcher.prepare import provisioning
from launcher.prepare.failure import Failure
from launcher.prepare.provisioning import prove, store
from launcher.report.document import to_json
from launcher.report.lines import Line


@click.group(cls=Names, reserved=(), subcommand_metavar="add|list|check|remove ...")
@options.screen_options
def command() -> None:
    """CUDA toolkits that gpulaunch makes from NVIDIA's wheels, for machines that have none that suits."""


@command.command("add", cls=options.Command)
@click.argument("release", required=False)
@click.option("--for", "profile", metavar="P", help="The release that this profile's target needs.")
@options.target_option
@click.option("--find-links", metavar="DIR", multiple=True, help="A folder with the wheels: no network is used.")
@options.screen_options
@click.pass_context
def add(
    ctx: click.Context, release: str | None, profile: str | None, target: str | None, find_links: tuple[str, ...]
) -> int:
    """Makes the toolkit of RELEASE (13.0): about 170 MB to fetch and 420 MB on disk, shared by all targets.

    It is proven by compiling and linking a kernel before it counts. An interrupted one leaves nothing.
    """
    screen: Screen = ctx.obj
    at = story.here()
    wanted = _release(release, profile, target, at)
    folders = [str(Path(at.cwd, folder)) for folder in find_links]
    with _told(screen, wanted) as tell, _terminable(), _failures_as_findings(wanted):
        root = provisioning.add(wanted, at.places.data, find_links=folders, tell=tell)
    screen.say(f"CUDA {wanted} is in {root}; launches find it by themselves.")
    return errors.OK


def _release(release: str | None, profile: str | None, target: str | None, at: story.Here) -> str:
    if (release is None) == (profile is None):
        raise UsageError("toolkit add: name a RELEASE (13.0), or a profile with --for P, and not both.")
    if release is not None:
        return release
    wish = story.Wish(profile=profile or "", target=target)
    served_by = story.planned(wish, at).facts.target
    torch = served_by.torch if served_by else None
    if torch is None or torch.cuda is None:
        where = served_by.path if served_by else "no target is named"
        raise Refused(
            [
                findings.error(
                    "toolkit-not-made",
                    f"Which CUDA release torch was built for could not be told ({where}).",
                    fix="Name the target with --target, or the release: gpulaunch toolkit add 13.0",
                )
            ]
        )
    return torch.cuda


@contextmanager
def _told(screen: Screen, release: str) -> Iterator[provisioning.Tell]:
    """A bar on a terminal, a line for each step elsewhere."""
    import sys

    if not sys.stderr.isatty() or screen.quiet:
        yield lambda step: None if screen.quiet else screen.say(step.text)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns: tuple[Any, ...] = (TextColumn(f"CUDA {release}"), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True, no_color=screen.no_color)) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda step: bar.update(task, completed=step.done, description=step.text)


@contextmanager
def _terminable() -> Iterator[None]:
    """A TERM ends it as Ctrl-C does: what is unfinished is removed."""

    def interrupted(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _failures_as_findings(release: str) -> Iterator[None]:
    try:
        yield
    except Failure as failure:
        message = f"CUDA {release} was not made: {failure}."
        raise Refused([findings.error("toolkit-not-made", message, fix=f"{failure.fix}.")]) from None
    except OSError as error:
        message = f"CUDA {release} was not made: {error.filename or 'the data folder'}: {error.strerror}."
        fix = "Make room, or set XDG_DATA_HOME to a writable folder."
        raise Refused([findings.error("toolkit-not-made", message, fix=fix)]) from None


@command.command("list", cls=options.Command)
@options.json_option
@options.screen_options
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> int:
    """The toolkits that were made, and the releases that can be."""
    screen: Screen = ctx.obj
    made = store.toolkits(story.here().places.data)
    if as_json:
        listed = [
            {
                "release": it.release,
                "root": it.root,
                "machine": it.machine,
                "wheels": dict(it.wheels),
                "bytes": it.bytes,
            }
            for it in made
        ]
        screen.write(to_json({"schema_version": 1, "toolkits": listed, "can_be_made": list(pinned_wheels.RELEASES)}))
        return errors.OK
    screen.show([Line(f"{it.release}  {it.root}  {it.bytes >> 20} MB") for it in made] or [Line("none was made yet")])
    screen.show([Line(f"can be made: {', '.join(pinned_wheels.RELEASES)} (gpulaunch toolkit add RELEASE)")])
    return errors.OK


@command.command("check", cls=options.Command)
@click.argument("release", required=False)
@options.screen_options
@click.pass_context
def check(ctx: click.Context, release: str | None) -> int:
    """Compiles and links a kernel with each toolkit that was made, or with the one of RELEASE."""
    screen: Screen = ctx.obj
    wrong = []
    for toolkit in _named(release):
        try:
            prove.prove(Path(toolkit.root), toolkit.release)
            screen.show([Line(f"{toolkit.release}  {toolkit.root}  compiles and links")])
        except Failure as failure:
            fix = f"gpulaunch toolkit remove {toolkit.release}, then gpulaunch toolkit add {toolkit.release}"
            wrong.append(findings.error("toolkit-broken", f"{toolkit.root}: {failure}.", fix=fix))
    if wrong:
        raise Refused(wrong)
    return errors.OK


@command.command("remove", cls=options.Command)
@click.argument("release")
@options.screen_options
@click.pass_context
def remove(ctx: click.Context, release: str) -> int:
    """Removes the toolkit of RELEASE. A server that runs with it can compile nothing more."""
    for toolkit in _named(release):
        store.remove(Path(toolkit.root))
        ctx.obj.say(f"removed {toolkit.root}")
    return errors.OK


def _named(release: str | None) -> Sequence[store.Provisioned]:
    made = store.toolkits(story.here().places.data)
    chosen = [toolkit for toolkit in made if release in (None, toolkit.release)]
    if release is not None and not chosen:
        there = ", ".join(toolkit.release for toolkit in made) or "none"
        message = f"No toolkit of CUDA {release} was made here; there are: {there}."
        raise Refused([findings.error("toolkit-not-there", message, fix=f"gpulaunch toolkit add {release}")])
    return chosen
