"""`gpulaunch clean`: ends and removes what earlier runs left behind, where it is proven to be theirs."""

from __future__ import annotations

import platform
from typing import Any

import click

from launcher import errors, leftovers
from launcher.cli import options, story
from launcher.cli.screen import Screen
from launcher.leftovers import Leftover, Machine
from launcher.report.document import to_json


@click.command(cls=options.Command)
@click.option("--dry-run", is_flag=True, help="Only say what would be ended and removed.")
@options.json_option
@options.screen_options
@click.pass_context
def command(ctx: click.Context, dry_run: bool, as_json: bool) -> int:
    """Ends processes, and removes cgroups, segments in /dev/shm and locks, of runs whose supervisor is gone.

    Nothing is touched that is not proven to be ours; it is told, with what is known. A running server is never touched.
    Exits with 1 where something could not be removed.
    """
    screen: Screen = ctx.obj
    story.require_linux(platform.system())
    machine = Machine(story.here().places)
    found = leftovers.look(machine)
    stayed = () if dry_run else leftovers.clean(machine, found)
    if as_json:
        screen.write(to_json(_document(found, stayed, dry_run=dry_run)))
    else:
        for entry in found:
            screen.say(f"{_done(entry, stayed, dry_run=dry_run)}: {entry}: {entry.how}")
        if not found:
            screen.say("nothing is left of earlier runs")
    return errors.FAILED if stayed else errors.OK


def _done(entry: Leftover, stayed: tuple[Leftover, ...], *, dry_run: bool) -> str:
    if not entry.ours:
        return "not touched"
    if entry in stayed:
        return "still there"
    verb = "ended" if entry.kind == "process" else "removed"
    return f"would be {verb}" if dry_run else verb


def _document(found: tuple[Leftover, ...], stayed: tuple[Leftover, ...], *, dry_run: bool) -> dict[str, Any]:
    entries = [
        {
            "kind": entry.kind,
            "name": entry.name,
            "run_id": entry.run_id,
            "what": entry.what,
            "evidence": entry.how,
            "ours": entry.ours,
            "removed": entry.ours and not dry_run and entry not in stayed,
        }
        for entry in found
    ]
    return {"schema_version": 1, "dry_run": dry_run, "leftovers": entries}
