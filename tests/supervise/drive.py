"""Carries out a plan without the command line: `python drive.py FOLDER [--break-when WORDS] -- COMMAND...`.

What the host says goes to standard error; with --break-when saying these words fails, as a mistake of ours would.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from launcher.hosts import here
from launcher.model import Plan
from launcher.paths import places
from launcher.runs import open_run
from tests import builders


def plan(folder: Path, command: list[str]) -> Plan:
    """A plan of this command alone, ready at once."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return replace(
        builders.plan(), argv=tuple(command), cwd=str(folder), env=env, ready=None, endpoint=None, limits=(), grace=10.0
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--break-when", default="\0")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    def say(sentence: str) -> None:
        print(f"gpulaunch: {sentence}", file=sys.stderr, flush=True)
        if options.break_when in sentence:
            raise RuntimeError("a mistake")

    made = plan(options.folder, options.command)
    run = open_run("drive", places({}, home=str(options.folder), uid=1000), {}, now=datetime.now(timezone.utc))
    outcome = here.carry_out(made, run, environ={}, say=say)
    run.close(outcome)
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main())
