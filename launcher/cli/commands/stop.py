"""`gpulaunch stop [RUN]`: ends the server that is running, and returns when nothing of it is left."""

from __future__ import annotations

import click

from launcher import errors
from launcher.cli import options, story
from launcher.runs import list_runs
from launcher.supervise.stopping import stop_run


@click.command(cls=options.Command)
@click.argument("run", required=False)
@options.screen_options
@click.pass_context
def command(ctx: click.Context, run: str | None) -> int:
    """Stops the latest run that is running: of all, of a profile, or the one whose id begins so.

    Exits with 0 also where nothing is running: what was asked for is so.
    """
    for found in list_runs(story.here().places):
        if run is not None and run != found.profile and not found.run_id.startswith(run):
            continue
        stopped = stop_run(found)
        if stopped.was_running:
            # After --exec nobody of ours stayed to look, and to write down how it ended.
            swept = "; nothing of it is left" if stopped.exit_code is not None else ""
            ctx.obj.say(f"stopped: {found.profile}, run {found.run_id}{swept}")
            return errors.OK
    ctx.obj.say(f"nothing is running{f' of {run}' if run else ''}")
    return errors.OK
