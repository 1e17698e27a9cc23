"""Is there a target, does it exist, may we run and read it?"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.engines import ENGINES
from launcher.model import Finding
from launcher.situation import Situation

# Ways in which a target was found that a service will not see.
_OF_THE_SHELL = ("VIRTUAL_ENV", "CONDA_PREFIX", "our own interpreter")


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """127 for a missing one, 126 for one that cannot be run, 77 for an unreadable one, 78 for none."""
    engine, target = ENGINES[situation.profile.engine], situation.target
    if target is None:
        # A profile that names one, and facts that were taken without it.
        if engine.NEEDS_TARGET or situation.profile.target is not None:
            yield findings.error(
                "no-target",
                f"No target is named: which Python holds {engine.NAME}?",
                fix="--target /path/to/venv, or target: {venv: /path/to/venv} in the profile.",
            )
        return
    where = situation.asked.where("target") if target.how.startswith("profile") else None
    if not target.exists:
        yield findings.error(
            "target-missing",
            f"The target {target.path} does not exist ({target.how}).",
            fix="Name a folder with bin/python, or make the virtual environment.",
            where=where,
        )
    elif not target.executable:
        yield findings.error(
            "target-not-executable",
            f"The target {target.path} cannot be executed by this user ({target.how}).",
            fix=f"chmod +x {target.path}, or let this user traverse its folders.",
            where=where,
        )
    elif not target.readable:
        yield findings.error(
            "target-unreadable",
            f"The packages of {target.path} cannot be read by this user ({target.how}).",
            fix="Let this user read its site-packages.",
            where=where,
        )
    elif target.packages is not None and engine.PACKAGES and not set(engine.PACKAGES) & set(target.packages):
        yield findings.error(
            "engine-not-installed",
            f"{' or '.join(engine.PACKAGES)} is not installed in {target.path} ({target.how}).",
            fix=f"{target.path} -m pip install {engine.PACKAGES[0]}, or name another target with --target.",
            where=where,
        )
    if target.how.startswith(_OF_THE_SHELL):
        yield findings.warning(
            "target-from-shell",
            f"The target {target.path} was found by {target.how}: a service will not see it.",
            fix=f"--target {target.prefix or target.path}, or target: in the profile.",
        )
