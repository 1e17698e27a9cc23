"""`gpulaunch selftest`: do signals, cgroups, logs and GPU queries work on this machine?"""

from __future__ import annotations

import contextlib
import platform
from typing import Any

import click

from launcher import __version__, errors
from launcher.cli import apart, early, options
from launcher.cli.screen import Screen
from launcher.cli.story import require_linux
from launcher.report.document import to_json
from launcher.report.lines import Line
from launcher.selftest.claim import Verdict
from launcher.selftest.running import run

_STYLES = {"ok": "green", "failed": "bold red", "not here": "yellow"}


@click.command(cls=options.Command)
@options.json_option
@options.screen_options
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """Tries on this machine what gpulaunch promises, with a server that behaves as badly as real ones do.

    It ends stubborn and hidden workers, kills gpulaunch itself, compares the log by SHA-256, looks for a planted
    secret, and asks for cgroups, GPUs and the kernel's log. It takes about ten seconds, and all of it happens in a
    temporary folder.

    Exits with 0 if nothing failed, else with 1. What is not here is no failure: its line says what is done instead.
    """
    screen: Screen = ctx.obj
    require_linux(platform.system())
    verdicts = []
    with early.ending_a_query(), contextlib.closing(run(apart.command)) as running:
        for verdict in running:
            verdicts.append(verdict)
            if not as_json:
                screen.show([_line(verdict)])
    failed = [verdict for verdict in verdicts if verdict.told.state == "failed"]
    code = errors.FAILED if failed else errors.OK
    if as_json:
        screen.write(to_json(_document(verdicts, code)))
    else:
        absent = sum(verdict.told.state == "not here" for verdict in verdicts)
        screen.show([Line(f"{len(verdicts)} claims: {len(failed)} failed, {absent} not here")])
    return code


def _line(verdict: Verdict) -> Line:
    state = verdict.told.state
    return Line(
        f"{verdict.claim.sentence}: {verdict.told.because}",
        lead=f"{state:8}",
        tail=f"({verdict.seconds:.1f} s)",
        hanging=9,
        lead_style=_STYLES[state],
    )


def _document(verdicts: list[Verdict], code: int) -> dict[str, Any]:
    claims = [
        {
            "name": verdict.claim.name,
            "claim": verdict.claim.sentence,
            "state": verdict.told.state,
            "because": verdict.told.because,
            "seconds": round(verdict.seconds, 2),
        }
        for verdict in verdicts
    ]
    return {"schema_version": 1, "version": __version__, "claims": claims, "exit_code": code}
