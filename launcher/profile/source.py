"""The text of one profile file, or the sentence why there is none. Reads that file and nothing else."""

from __future__ import annotations

from pathlib import Path

from launcher import findings
from launcher.errors import Refused
from launcher.model import Finding, Where
from launcher.profile.lookup import Located

LARGEST = 256 * 1024  # bytes; a profile has a few thousand

_OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def read_text(located: Located) -> str:
    """The text. Raises Refused: 78, or 77 where the file may not be read."""
    where = Where(located.label, None)
    raw = _read(located.path, where)
    if len(raw) > LARGEST:
        raise _refused("profile-syntax", "The file is larger than 256 KiB.", "Is it a profile?", where)
    return _decoded(raw, located.label)


def _read(path: Path, where: Where) -> bytes:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise _refused("profile-not-found", "This is no regular file.", "Name a file.", where)
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except IsADirectoryError:
        raise _refused("profile-not-found", "This is a folder.", "Name a file in it.", where) from None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        fix = "Correct the path; a name has neither a slash nor an ending."
        raise _refused("profile-not-found", "There is no such file.", fix, where) from None
    except OSError as error:
        fix = "Let this user read it and search its folders."
        raise _refused("profile-unreadable", f"It cannot be read: {error.strerror}.", fix, where) from None


def _decoded(raw: bytes, label: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        what = f"This is {_OTHER_ENCODINGS.get(raw[:2], 'not UTF-8')}."
        raise _refused("profile-syntax", what, "Save the file as UTF-8.", Where(label, line)) from None


def _refused(code: str, what: str, fix: str, where: Where) -> Refused:
    finding: Finding = findings.error(code, what, fix=fix, where=where)
    return Refused([finding])
