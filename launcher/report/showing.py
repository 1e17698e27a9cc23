"""Small texts that several reports share: what a terminal would obey, places, counts, argv for reading. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from launcher.model import Change, Finding
from launcher.secrets import MASK

_OPTION = re.compile(r"--?[A-Za-z]")


def visible(text: str) -> str:
    """The text in one line: control characters and stray bytes as escapes, so that no value can steer a terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode()


def place(finding: Finding) -> str:
    """`file:line: `, `file: ` or nothing."""
    if finding.file is None:
        return ""
    return f"{finding.file}:{finding.line}: " if finding.line is not None else f"{finding.file}: "


def options(argv: Iterable[str]) -> tuple[str, ...]:
    """argv as a person reads it: the program, then one option with its values a line, quoted as a shell needs it."""
    lines: list[list[str]] = []
    for token in argv:
        if len(lines) < 2 or _OPTION.match(token):
            lines.append([quoted(token)])
        else:
            lines[-1].append(quoted(token))
    return tuple(" ".join(line) for line in lines)


def quoted(token: str) -> str:
    """As a shell needs it; a mask stays as it is."""
    return token if token == MASK or token.endswith(f"={MASK}") else shlex.quote(token)


def assignment(change: Change) -> str:
    """`NAME=value`"""
    return f"{change.name}={change.value}"


def count(number: int, one: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {one if number == 1 else one + 's'}"
