"""In whose session we run: read for `lingering`."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from launcher.causes.lingering import FOLDER, Session


def look() -> Session:
    """Our own cgroup, user and lingering."""
    return Session(_cgroup(), *_user(os.getuid()))


def _cgroup() -> str:
    """The path in version 2, else in systemd's own hierarchy; "" if there is neither."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    paths = {line.split(":", 2)[1]: line.split(":", 2)[2] for line in lines if line.count(":") >= 2}
    named = paths.get("name=systemd", "")
    return named if named not in ("", "/") else paths.get("", "")


def _user(uid: int) -> tuple[str, bool | None]:
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid), None
    try:
        return name, name in os.listdir(FOLDER)
    except FileNotFoundError:
        # logind makes the folder with the first who lingers; without systemd nobody ends sessions.
        return name, False if Path("/run/systemd/system").is_dir() else None
    except OSError:
        return name, None
