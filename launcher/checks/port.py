"""Is the port one that a server can listen at and be asked at? Without it nobody would know whether it is ready."""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.engines import ENGINES
from launcher.engines.arguments import option
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """An engine of ours whose `--port` is no port; a command says its own address by `ready`."""
    if command.endpoint is not None or ENGINES[situation.profile.engine].READY_PATH is None:
        return
    yield findings.error(
        "port-invalid",
        f"The port {option(command.argv, '--port')!r} is none: readiness could not be asked for.",
        fix="Write a number from 1 to 65535.",
        where=situation.asked.where("args.port"),
    )
