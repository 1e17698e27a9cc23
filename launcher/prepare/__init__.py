"""What must exist before exec: one file per action, and the table of them. Idempotent, atomic, private.

To add an action: a module with `carry_out(step)`, one line in `ACTIONS`, its name in `launcher.model.Step`.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable

from launcher import findings
from launcher.errors import Refused
from launcher.model import Finding, Step
from launcher.prepare import folder, hide_root, links, move_aside, provision, tiny_model, view
from launcher.prepare.failure import Failure

ACTIONS: dict[str, Callable[[Step], None]] = {
    "folder": folder.carry_out,
    "view": view.carry_out,
    "hide-root": hide_root.carry_out,
    "links": links.carry_out,
    "tiny-model": tiny_model.carry_out,
    "move-aside": move_aside.carry_out,
    "provision": provision.carry_out,
}


def carry_out_steps(steps: Iterable[Step]) -> None:
    """Every step in order. Raises Refused with every failure; nothing half-made is left behind."""
    failures = [failure for step in steps if (failure := _carry_out(step)) is not None]
    if failures:
        raise Refused(failures)


def _carry_out(step: Step) -> Finding | None:
    try:
        ACTIONS[step.action](step)
    except Refused as refused:
        return refused.findings[0]
    except Failure as failure:
        return findings.error("prepare-failed", f"{step.path}: {failure}.", fix=failure.fix)
    except OSError as error:
        # EROFS is how ProtectSystem= and ProtectHome= of a unit say no.
        forbidden = isinstance(error, PermissionError) or error.errno == errno.EROFS
        code = "prepare-forbidden" if forbidden else "prepare-failed"
        fix = "Set XDG_CACHE_HOME, or CacheDirectory= in the unit, to a writable folder with room."
        return findings.error(code, f"{step.path} cannot be made ({step.because}): {error.strerror}.", fix=fix)
    return None
