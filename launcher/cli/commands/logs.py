"""`gpulaunch logs [RUN]`: the log of the latest run, or of the one named."""

from __future__ import annotations

import shutil
import sys

import click

from launcher import errors, findings
from launcher.cli import options, story
from launcher.errors import Refused
from launcher.runs import find_run, log_files


@click.command(cls=options.Command)
@click.argument("run", required=False)
@options.screen_options
@click.pass_context
def command(ctx: click.Context, run: str | None) -> int:
    """Prints the whole log of a run: of the latest, of a profile's latest, or of the one whose id begins so."""
    found = find_run(story.here().places, run)
    files = log_files(found.folder)
    if not files:
        raise Refused([findings.error("no-log", f"Run {found.run_id} of {found.profile} left no log.")])
    for file in files:
        with file.open("rb") as log:
            shutil.copyfileobj(log, sys.stdout.buffer)
    return errors.OK
