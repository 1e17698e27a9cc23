"""`gpulaunch cache`: what was compiled while serving: list it, remove what is old, compile before the start."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import click

from launcher import errors, findings
from launcher.caches import Kept
from launcher.cli import early, options, story
from launcher.cli.names import Names
from launcher.cli.screen import Screen
from launcher.errors import Refused
from launcher.facts import kept
from launcher.model import Finding, Plan
from launcher.planning import warming as wishes
from launcher.prepare import carry_out_steps
from launcher.prepare.discard import discard
from launcher.report.caches import DAY, age, cache_lines, caches_document, size
from launcher.report.document import to_json
from launcher.report.findings import finding_lines
from launcher.verify.warming import Warmed, telling, warm

_UNITS = {"d": DAY, "h": 3600, "m": 60, "s": 1}


@click.group(cls=Names, reserved=(), subcommand_metavar="ls|prune|warm ...")
@options.screen_options
def command() -> None:
    """Kernels that libraries compiled while serving: one folder for each toolchain, and the shared ones."""


@command.command("ls", cls=options.Command)
@options.json_option
@options.screen_options
@click.pass_context
def ls(ctx: click.Context, as_json: bool) -> int:
    """Every folder with its size, its last use and who uses it now."""
    screen: Screen = ctx.obj
    found = kept.look(story.here().places.cache)
    if as_json:
        screen.write(to_json(caches_document(found)))
    else:
        screen.show(cache_lines(found, time.time()))
    return errors.OK


def _age(ctx: click.Context, parameter: click.Parameter, value: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([dhms])", value)
    if match is None:
        raise click.BadParameter(f"{value!r} is no age: say 30d, 12h or 0s")
    return float(match[1]) * _UNITS[match[2]]


@command.command("prune", cls=options.Command)
@click.option("--older-than", default="30d", show_default=True, callback=_age, help="Not used for so long: 30d, 12h.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@options.screen_options
@click.pass_context
def prune(ctx: click.Context, older_than: float, dry_run: bool) -> int:
    """Removes folders that no launch used for so long. What a running process has open or locked stays."""
    screen: Screen = ctx.obj
    now, freed, trouble = time.time(), 0, []
    for entry in kept.look(story.here().places.cache):
        if now - entry.last_used < older_than:
            continue
        if entry.used_by:
            screen.tell(finding_lines([_in_use(entry)]))
            continue
        try:
            gone = dry_run or discard(Path(entry.path), lambda place: bool(kept.used_by(place)))
        except OSError as error:
            fix = "Remove it by hand, or correct its mode."
            trouble.append(
                findings.error("cache-not-writable", f"{entry.path} cannot be removed: {error.strerror}.", fix=fix)
            )
            continue
        if gone:
            freed += entry.bytes
            verb = "would remove" if dry_run else "removed"
            screen.say(f"{verb} {entry.name}: {size(entry.bytes)}, {age(now - entry.last_used)}")
    screen.say(f"{size(freed)} {'would be free' if dry_run else 'freed'}")
    if trouble:
        raise Refused(trouble)
    return errors.OK


def _in_use(entry: Kept) -> Finding:
    return findings.note("cache-in-use", f"{entry.path} stays: {', '.join(entry.used_by)} uses it.")


class _Show(Protocol):
    def __call__(self, event: Warmed, done: int) -> None: ...


@command.command("warm", cls=options.Command)
@options.profile_option
@options.target_option
@options.screen_options
@click.pass_context
def warm_(ctx: click.Context, profile: str | None, target: str | None) -> int:
    """Compiles the modules of FlashInfer that the profile will need, so that the first request does not wait for nvcc.

    In the target's own interpreter, under the server's environment; no GPU is needed where the profile names the
    compute capability.
    """
    screen: Screen = ctx.obj
    wish = story.Wish(profile=options.required_profile(profile), target=target)
    with early.ending_a_query():
        made = story.planned(wish, story.here())
        plan = made.plan
        blocking = wishes.in_the_way(plan)
        if blocking:
            raise Refused(blocking)
        modules = wishes.modules(made.asked, made.facts, plan)
        if not modules or plan.target is None or plan.target.python is None:
            screen.tell(finding_lines([findings.note("nothing-to-warm", "Nothing here is compiled while serving.")]))
            return errors.OK
        carry_out_steps(plan.prepare)
        return _compile(plan, wishes.model_folder(made.asked), modules, screen)


def _compile(plan: Plan, model: str, modules: tuple[str, ...], screen: Screen) -> int:
    failed: list[Warmed] = []
    built = 0
    with _shown(screen, len(modules)) as show:
        done = 0
        for event in warm(plan, model, modules):
            done += event.state != "begun"
            built += event.state == "built"
            failed += [event] if event.state == "failed" else []
            show(event, done)
    if failed:
        raise Refused([_failed(event) for event in failed])
    screen.say(f"{built} compiled, {done - built} were there; kernels lie in {plan.env['FLASHINFER_WORKSPACE_BASE']}")
    return errors.OK


def _failed(event: Warmed) -> Finding:
    what = f"FlashInfer's {event.module}" if event.module else "FlashInfer's modules"
    fix = "gpulaunch doctor --profile P --build tries the toolkit with one line of code."
    return findings.error("warm-failed", f"{what} cannot be compiled: {telling(event.because).rstrip('.')}.", fix=fix)


@contextmanager
def _shown(screen: Screen, count: int) -> Iterator[_Show]:
    """A bar on a terminal, a line for each module elsewhere."""
    if not sys.stderr.isatty() or screen.quiet:
        yield lambda event, done: None if screen.quiet else _say(screen, event)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns: tuple[Any, ...] = (TextColumn("compiling"), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True, no_color=screen.no_color)) as bar:
        task = bar.add_task("", total=count)

        def show(event: Warmed, done: int) -> None:
            bar.update(task, completed=min(done, count), description=f"{event.module} {event.state}")

        yield show


def _say(screen: Screen, event: Warmed) -> None:
    words = {"begun": "compiling", "there": "there already:", "built": "compiled", "prebuilt": "prebuilt:"}
    if event.state in words:
        screen.say(f"{words[event.state]} {event.module}")
    elif event.state == "skipped":
        screen.say(f"left out {event.module}: {event.because}")
