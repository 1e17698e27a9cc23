"""May this user read the model, where it is named by a path?

Every folder on the way must be one that it may enter: a model in somebody's home, or below ProtectHome= of a unit, is
found by the operator and not by the service (ollama/ollama#2701, NixOS/nixpkgs#357604).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from launcher import findings
from launcher.model import Finding, Plan
from launcher.preflight.moment import Moment

# Options whose value is a model, a draft or a tokenizer: a path, or a name on a hub.
OPTIONS = (
    "--model", "-m", "--model-path", "--tokenizer", "--tokenizer-path", "--speculative-draft-model-path",
    "--model-draft", "-md", "--mmproj",
)  # fmt: skip
_MOST = 2000  # files of a folder that are asked for: a check must not take long on a network's file system

Access = Callable[[Path, int], bool]


def check(moment: Moment) -> Iterator[Finding]:
    """77 for what may not be read, 78 for what is not there."""
    made = {step.path for step in moment.plan.prepare}
    for path in dict.fromkeys(paths(moment.plan, moment.profile.model)):
        if str(path) not in made:
            yield from _judged(path)


def paths(plan: Plan, model: str | None) -> Iterator[Path]:
    """Those of the final command line, from the server's working folder. A name with one slash is one on a hub unless
    such a folder is there.
    """
    named = [value for word, value in zip(plan.argv, plan.argv[1:], strict=False) if word in OPTIONS]
    named += [word.partition("=")[2] for word in plan.argv if word.partition("=")[0] in OPTIONS and "=" in word]
    named += [model] if model and model in plan.argv else []
    for name in named:
        path = Path(plan.cwd, name)
        if name.startswith(("/", "./", "../")) or os.path.lexists(path):
            yield path


def barrier(path: Path, access: Access = os.access) -> Path | None:
    """The first folder on the way that may not be entered."""
    return next((folder for folder in reversed(path.parents) if not access(folder, os.X_OK) and folder.exists()), None)


def _judged(path: Path) -> Iterator[Finding]:
    closed = barrier(path)
    if closed is not None:
        yield _unreadable(path, closed, f"the folder {closed} may not be entered by this user ({_mode(closed)})")
    elif not path.exists():
        broken = f", a link to {os.readlink(path)}" if path.is_symlink() else ""
        yield findings.error(
            "model-missing", f"There is no {path}{broken}.", fix="Correct the path; is its file system mounted?"
        )
    elif not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        yield _unreadable(path, path, f"this user may not read it ({_mode(path)})")
    elif path.is_dir():
        yield from _inside(path)


def _inside(folder: Path) -> Iterator[Finding]:
    """The first file that may not be read: weights are often links into a cache of somebody else's."""
    with os.scandir(folder) as entries:
        for _, entry in zip(range(_MOST), entries, strict=False):
            if not os.access(entry.path, os.R_OK):
                file = Path(entry.path)
                gone = file.is_symlink() and not file.exists()
                what = f"it is a link to {os.readlink(file)}" if gone else f"this user may not read it ({_mode(file)})"
                yield _unreadable(file, file, what)
                return


def _unreadable(path: Path, where: Path, because: str) -> Finding:
    home = any(str(where).startswith(place) for place in ("/home", "/root", "/run/user"))
    unit = " In a unit ProtectHome= hides home folders." if home and "INVOCATION_ID" in os.environ else ""
    return findings.error(
        "model-unreadable",
        f"{path} cannot be read: {because}.{unit}",
        fix=f"chmod a+rX {where}, or move the model to a folder of the service.",
    )


def _mode(path: Path) -> str:
    import pwd

    try:
        status = path.stat()
    except OSError as error:
        return error.strerror or "unknown"
    try:
        owner = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        owner = str(status.st_uid)
    return f"{stat.filemode(status.st_mode)}, of {owner}"
