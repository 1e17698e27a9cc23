"""Small texts that several reports share: characters that a terminal would obey, places, durations. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from launcher.model import Finding


def visible(text: str) -> str:
    """The text in one line: control characters and stray bytes as escapes, so that no value can steer a terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in text)


def place(finding: Finding) -> str:
    """`file:line: `, `file: ` or nothing."""
    if finding.file is None:
        return ""
    return f"{finding.file}:{finding.line}: " if finding.line is not None else f"{finding.file}: "


def options(argv: Iterable[str]) -> tuple[str, ...]:
    """argv as a person reads it: one option with its values a line, quoted as a shell would need it."""
    lines: list[list[str]] = []
    for token in argv:
        quoted = shlex.quote(token)
        if not lines or token.startswith("--") or lines[-1][0][:1] not in "-":
            lines.append([quoted])
        else:
            lines[-1].append(quoted)
    return tuple(" ".join(line) for line in lines)


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 error`, `2 errors`, `no errors`."""
    return f"{number or 'no'} {one if number == 1 else many or one + 's'}"
