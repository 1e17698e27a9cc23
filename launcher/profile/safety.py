"""May others change this profile? A profile is code: it runs as whoever starts it.

"Others" is anybody but the owner, root and the owner's private group, on the file (behind a symlink) or its folder. A
sticky folder and a read-only mount do not count; another owner alone is only noted: mounted files in containers have
one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from launcher import findings
from launcher.model import Finding, Where
from launcher.profile.lookup import identity


@dataclass(frozen=True, kw_only=True)
class Access:
    """What stat(2) says of a file or folder, as far as it matters here."""

    mode: int
    uid: int
    gid: int
    private_group: bool  # the group is the owner's own and has no other member
    read_only: bool  # its mount


def others_can_write(access: Access) -> bool:
    """Pure: the rule above for one file or folder."""
    if access.read_only or (stat.S_ISDIR(access.mode) and access.mode & stat.S_ISVTX):
        return False
    by_group = bool(access.mode & stat.S_IWGRP) and not access.private_group and access.gid != 0
    return by_group or bool(access.mode & stat.S_IWOTH)


def check(path: Path, label: str, *, uid: int) -> Iterator[Finding]:
    """Refused as root (an error), else a warning. What cannot be looked at (a pipe) is let pass."""
    where = Where(label, None)
    for place in _places(path):
        access = _look(place)
        if access and others_can_write(access):
            what = "the folder it lies in" if stat.S_ISDIR(access.mode) else "it"
            make = findings.error if uid == 0 else findings.warning
            message = f"Others can write to {what} ({place}), and a profile runs commands."
            yield make("profile-writable", message, fix=f"chmod go-w '{place}'", where=where)
    owner = _look(path)
    if owner and owner.uid not in (0, uid):
        message = f"The file belongs to another user (uid {owner.uid}), who can change what it runs."
        yield findings.note("profile-of-another", message, fix="Nothing, if that user is trusted.", where=where)


def _places(path: Path) -> tuple[Path, ...]:
    """The file behind symlinks, its folder, and the folder of the link, in which the link could be replaced."""
    real = identity(path)
    return tuple(dict.fromkeys((real, real.parent, identity(path.parent))))


def _look(place: Path) -> Access | None:
    try:
        status = place.stat()
        read_only = bool(os.statvfs(place).f_flag & os.ST_RDONLY)
    except OSError:
        return None
    private = _is_private_group(status.st_uid, status.st_gid)
    return Access(mode=status.st_mode, uid=status.st_uid, gid=status.st_gid, private_group=private, read_only=read_only)


def is_private(group: str, members: Collection[str], *, owner: str, is_first: bool) -> bool:
    """Pure: the owner's first group, of the owner's name, without other members (`useradd -U` makes it)."""
    return is_first and group == owner and set(members) <= {owner}


def _is_private_group(uid: int, gid: int) -> bool:
    """False also where the databases know no such user or group, as in many containers."""
    import grp
    import pwd

    try:
        owner, group = pwd.getpwuid(uid), grp.getgrgid(gid)
    except KeyError:
        return False
    return is_private(group.gr_name, group.gr_mem, owner=owner.pw_name, is_first=owner.pw_gid == gid)
