"""`gpulaunch stop [RUN]`: ends the server that is running, and returns when nothing of it is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from launcher import errors
from launcher.cli import options, story
from launcher.cli.screen import Screen
from launcher.instances import Claimant, running
from launcher.runs import Recorded, list_runs
from launcher.supervise.stopping import Stopped, stop_process, stop_run

LONGEST_GRACE = 600.0  # seconds for one whose own grace is not known


@click.command(cls=options.Command)
@click.argument("run", required=False)
@click.option("--timeout", type=float, metavar="SECONDS", help="Wait so long; default: its grace and 30 s.")
@options.screen_options
@click.pass_context
def command(ctx: click.Context, run: str | None, timeout: float | None) -> int:
    """Stops the latest run that is running: of all, of an instance, of a profile, or the one whose id begins so.

    Exits with 0 also where nothing is running: what was asked for is so; with 124 if it has not ended in time.
    """
    places = story.here().places
    instances = running(places.locks)
    for found in _meant(list_runs(places), run, instances):
        if (code := _told(ctx.obj, found, stop_run(found, timeout))) is not None:
            return code
    for claimant in instances:  # whose folder could not be written, or not be read: only one that is named
        if run is not None and (run == claimant.instance or claimant.run_id.startswith(run)):
            stopped = stop_process(claimant.process, LONGEST_GRACE if timeout is None else timeout)
            if (code := _told(ctx.obj, claimant, stopped)) is not None:
                return code
    ctx.obj.say(f"nothing is running{f' of {run}' if run else ''}")
    return errors.OK


def _told(screen: Screen, found: Recorded | Claimant, stopped: Stopped) -> int | None:
    """Says what became of it; None where it was not running."""
    if stopped.problem:
        screen.say(f"asked to stop: {found.profile}, run {found.run_id}; {stopped.problem}")
        return errors.OUT_OF_TIME
    if not stopped.was_running:
        return None
    # After --exec nobody of ours stayed to look, and to write down how it ended.
    swept = "; nothing of it is left" if stopped.exit_code is not None else ""
    screen.say(f"stopped: {found.profile}, run {found.run_id}{swept}")
    return errors.OK


def _meant(runs: Sequence[Recorded], word: str | None, instances: Iterable[Claimant]) -> Sequence[Recorded]:
    """An instance's name counts most, as a profile may have several; else the profile's, or the beginning of an id."""
    named = {entry.run_id for entry in instances if entry.instance == word}
    of_instance = [run for run in runs if run.run_id in named]
    return of_instance or [run for run in runs if word in (None, run.profile) or run.run_id.startswith(word or "")]
