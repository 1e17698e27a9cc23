"""May others change this profile? A profile is code: it runs as whoever starts it.

"Others" is anybody but the owner, root and the owner's private group, on the file (behind a symlink) or its folder. A
sticky folder and a read-only mount do not count, nor does another owner alone: mounted files in containers have one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from launcher import findings
from launcher.model import Finding, Where


@dataclass(frozen=True)
class Access:
    """What stat(2) says of a file or folder, as far as it matters here."""

    mode: int
    uid: int
    gid: int
    private_group: bool  # the group is the owner's own and has no other member
    read_only: bool  # its mount


def others_can_write(access: Access, *, folder: bool) -> bool:
    """Pure: the rule above for one file or folder."""
    if access.read_only or (folder and access.mode & stat.S_ISVTX):
        return False
    by_group = bool(access.mode & stat.S_IWGRP) and not access.private_group and access.gid != 0
    return by_group or bool(access.mode & stat.S_IWOTH)


def check(path: Path, label: str, *, uid: int) -> Iterator[Finding]:
    """Refused as root (an error), else a warning."""
    real = path.resolve()
    for place, folder in ((real, False), (real.parent, True)):
        try:
            access = _look(place)
        except OSError:
            continue
        if others_can_write(access, folder=folder):
            what = f"the folder {place}" if folder else "it"
            make = findings.error if uid == 0 else findings.warning
            yield make(
                "profile-writable",
                f"others can write to {what}, and a profile runs commands.",
                fix=f"chmod go-w {place}",
                where=Where(label, None),
            )


def _look(place: Path) -> Access:
    status = place.stat()
    read_only = bool(os.statvfs(place).f_flag & os.ST_RDONLY)
    return Access(
        status.st_mode, status.st_uid, status.st_gid, _is_private_group(status.st_uid, status.st_gid), read_only
    )


def _is_private_group(uid: int, gid: int) -> bool:
    """A group of the same name as the owner, without members but him."""
    import grp
    import pwd

    try:
        owner, group = pwd.getpwuid(uid), grp.getgrgid(gid)
    except KeyError:
        return False
    return owner.pw_gid == gid and set(group.gr_mem) <= {owner.pw_name} and group.gr_name == owner.pw_name
