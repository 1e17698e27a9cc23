"""Processes as they are named to people: short, in one line, and without the secrets on their command lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from launcher.secrets import MASK, is_secret_name, mask_urls
from launcher.supervise import run_mark
from launcher.supervise.processes import command_line

LONGEST = 120  # characters
_NAMED = 5  # processes that are named one by one


def command_of(pid: int) -> str:
    """A process's command; empty if it is gone."""
    return shown(command_line(pid))


def several(pids: Sequence[int]) -> str:
    """The first few by pid and command, the others by their number."""
    names = ", ".join(f"{pid} ({command_of(pid)})" for pid in pids[:_NAMED])
    return f"{names} and {len(pids) - _NAMED} more" if len(pids) > _NAMED else names


def holder(pid: int) -> str:
    """Who holds something: command, user and, for a server of ours, its run; or that it cannot be seen from here."""
    command, run = command_of(pid), run_mark.run_of(pid)
    if not command:
        return f"process {pid}, which has ended or belongs to another container"
    return f"process {pid} ({command}, user {user_of(pid)}{f', run {run} of gpulaunch' if run else ''})"


def user_of(pid: int) -> str:
    """The name of a process's user, or its number; empty if it is gone."""
    import pwd

    try:
        uid = os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return ""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def shown(words: Iterable[str]) -> str:
    """Words in one line: what follows `--api-key` and the like is masked, control characters are spaces. Pure."""
    text = "".join(character if character.isprintable() else " " for character in " ".join(_masked(words)))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _masked(words: Iterable[str]) -> Iterator[str]:
    follows = False
    for word in words:
        name, equals, _ = word.partition("=")
        secret = word.startswith("-") and is_secret_name(name)
        if follows and not word.startswith("-"):
            yield MASK
        else:
            yield f"{name}={MASK}" if secret and equals else mask_urls(word)
            follows = secret and not equals
