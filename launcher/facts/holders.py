"""Who holds a file: by a lock in /proc/locks, by an open descriptor, a mapping, or a name in its environment.

Of processes of other users the kernel shows us the locks alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from launcher.secrets import is_secret_name, mask_urls

_PROC = Path("/proc")
_LONGEST = 120  # characters of a command


@dataclass(frozen=True)
class Holder:
    """`pid` None: the kernel shows a holder without a number: it lives in another container."""

    pid: int | None
    command: str | None

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})" if self.pid else "a process of another container"


def holder_of_flock(file: Path) -> Holder | None:
    """Who holds a lock on the file; None where nobody does."""
    try:
        status = file.stat()
    except OSError:
        return None
    pids = parse_locks(_text(_PROC / "locks")).get(status.st_ino, ())
    for pid in pids:
        if pid <= 0:
            return Holder(None, None)
        # Another file system may have a file of this number: a process that we can see must have ours open.
        if _sees(pid) and not _has_open(pid, status):
            continue
        return Holder(pid, command_of(pid))
    return None


def parse_locks(text: str) -> dict[int, tuple[int, ...]]:
    """/proc/locks to the holders' pids by inode; those that wait for one stand a field further (`->`). Pure."""
    found: dict[int, tuple[int, ...]] = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 8:
            continue
        inode = fields[5].rpartition(":")[2]
        if inode.isdigit() and fields[4].lstrip("-").isdigit():
            found[int(inode)] = (*found.get(int(inode), ()), int(fields[4]))
    return found


def process_with_open_file(file: Path) -> Holder | None:
    """The first process of this user that has the file open."""
    try:
        status = file.stat()
    except OSError:
        return None
    for pid in pids():
        if _has_open(pid, status):
            return Holder(pid, command_of(pid))
    return None


def users_of(folder: Path) -> Iterator[Holder]:
    """Processes of this user whose environment, open files, mapped libraries or working folder lie in a folder."""
    for pid in pids():
        if pid != os.getpid() and _uses(pid, os.path.realpath(folder), str(folder)):
            yield Holder(pid, command_of(pid))


def pids() -> list[int]:
    """Every process that this container shows."""
    return sorted(int(name) for name in os.listdir(_PROC) if name.isdigit())


def command_of(pid: int) -> str | None:
    """Its command line up to the first secret, in one line; its name where it has none."""
    words = _text(_PROC / str(pid) / "cmdline").split("\0")
    return shown(words) or _text(_PROC / str(pid) / "comm").strip() or None


def shown(words: Iterable[str]) -> str:
    """Words up to an option whose value is a secret, short and printable. Pure."""
    fit = takewhile(lambda word: not (word.startswith("-") and is_secret_name(word.partition("=")[0])), words)
    text = "".join(letter if letter.isprintable() else " " for letter in mask_urls(" ".join(fit))).strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _sees(pid: int) -> bool:
    return os.access(_PROC / str(pid) / "fd", os.R_OK | os.X_OK)


def _has_open(pid: int, status: os.stat_result) -> bool:
    try:
        descriptors = os.listdir(_PROC / str(pid) / "fd")
    except OSError:
        return False
    for descriptor in descriptors:
        try:
            there = os.stat(_PROC / str(pid) / "fd" / descriptor)
        except OSError:
            continue
        if (there.st_dev, there.st_ino) == (status.st_dev, status.st_ino):
            return True
    return False


def _uses(pid: int, *folders: str) -> bool:
    below = tuple(f"{folder}/" for folder in folders)
    environ = _text(_PROC / str(pid) / "environ").split("\0")
    if any(entry.partition("=")[2].startswith(below) or entry.partition("=")[2] in folders for entry in environ):
        return True
    mapped = (line.partition("/")[2] for line in _text(_PROC / str(pid) / "maps").splitlines())
    if any(f"/{path}".startswith(below) for path in mapped):
        return True
    return any(place.startswith(below) or place in folders for place in _places(pid))


def _places(pid: int) -> Iterator[str]:
    links = [_PROC / str(pid) / "cwd"]
    try:
        links += [_PROC / str(pid) / "fd" / name for name in os.listdir(_PROC / str(pid) / "fd")]
    except OSError:
        pass
    for link in links:
        try:
            yield os.readlink(link)
        except OSError:
            continue


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""
