"""The command that a dry run prints: it runs exactly what a launch runs, unsupervised, and holds no secret. Pure."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from launcher.cli.story import Planned, Wish
from launcher.model import Plan
from launcher.profile.lookup import is_path
from launcher.report.pasteable import pasteable


def by_hand(wish: Wish, made: Planned) -> tuple[str, ...]:
    """`gpulaunch env --profile P ... -- ARGV...`, after a cd where the server has a working folder of its own."""
    plan, caller = made.plan, made.facts.caller
    profile = _absolute(wish.profile, caller.cwd) if is_path(wish.profile) else wish.profile
    ours = ["gpulaunch", "env", "--profile", profile]
    target = wish.target or _targets_folder(plan)
    if target is not None:
        ours += ["--target", _absolute(target, caller.cwd)]
    for name, value in wish.request.env:
        ours += ["--env", f"{name}={value}"]
    for name in wish.request.keep_env:
        ours += ["--keep-env", name]
    ours.append("--")
    command = pasteable(
        [*ours, *plan.argv],
        secrets=plan.secrets,
        secret_words=[len(ours) + position for position in plan.secret_arguments],
        environ=caller.environ,
    )
    return (command,) if plan.cwd == caller.cwd else (f"cd {shlex.quote(plan.cwd)}", command)


def _targets_folder(plan: Plan) -> str | None:
    """With --facts the operator's --target was said on the other machine: it must be said again there."""
    used = plan.target
    return (used.python or used.program) if used is not None and used.how == "--target" else None


def _absolute(path: str, cwd: str) -> str:
    """The same file from any folder; ~ is the shell's own business and was expanded by it."""
    return path if path.startswith("~") else str(PurePosixPath(cwd, path))
