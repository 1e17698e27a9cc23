"""Lines for people: a text with an optional lead and tail, wrapped at words on a terminal and never inside one.

rich does the colours and is imported only where there are any. A log file gets every line whole.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TextIO

from launcher.report.showing import visible

NARROWEST = 40  # columns: below that wrapping makes text worse


@dataclass(frozen=True)
class Line:
    """One fact. `lead` and `tail` have styles of their own; `whole` lines (commands) are never wrapped."""

    text: str = ""
    lead: str = ""
    tail: str = ""
    indent: int = 0
    hanging: int = 2  # further columns for what is wrapped
    style: str = ""
    lead_style: str = ""
    tail_style: str = "dim"
    whole: bool = False


@dataclass(frozen=True)
class _Piece:
    text: str
    style: str


def render(lines: Iterable[Line], stream: TextIO, *, prefix: str = "", width: int | None, colored: bool) -> None:
    """Writes the lines. `width` in columns; None: nothing is wrapped."""
    rows = (row for line in lines for row in _rows(line, prefix, width))
    if not colored:
        for row in rows:
            stream.write("".join(piece.text for piece in row).rstrip() + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    # What counts as colour is decided by our caller: rich must not look at the environment once more.
    console = Console(file=stream, force_terminal=True, soft_wrap=True, highlight=False, _environ={"TERM": "xterm"})
    for row in rows:
        console.print(Text.assemble(*((piece.text, piece.style) for piece in row)))


def plain(lines: Iterable[Line]) -> str:
    """The same as text without width or colour."""
    rows = (row for line in lines for row in _rows(line, "", None))
    return "".join("".join(piece.text for piece in row).rstrip() + "\n" for row in rows)


def _rows(line: Line, prefix: str, width: int | None) -> list[list[_Piece]]:
    """The line as rows of styled pieces: the lead at the start of the first, the tail at the end of the last."""
    start = f"{prefix} " if prefix else ""
    lead, tail = visible(line.lead), visible(line.tail)
    said = " ".join(part for part in (lead, visible(line.text), tail) if part)
    room = None if width is None else width - len(start)
    texts = [" " * line.indent + said] if room is None or room < NARROWEST or line.whole else _wrap(said, line, room)
    rows = []
    for number, text in enumerate(texts):
        first = lead if number == 0 and lead else ""
        last = tail if number == len(texts) - 1 and tail else ""
        rows.append([_Piece(start, "dim"), *_pieces(text, first, last, line)])
    return rows


def _wrap(said: str, line: Line, room: int) -> list[str]:
    first, rest = " " * line.indent, " " * (line.indent + line.hanging)
    return textwrap.wrap(
        said,
        width=room,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    ) or [""]


def _pieces(text: str, lead: str, tail: str, line: Line) -> list[_Piece]:
    """A row cut where the style changes. A lead that was itself wrapped has no style."""
    indent = text[: len(text) - len(text.lstrip())]
    body = text[len(indent) :]
    before = lead if lead and body.startswith(lead) else ""
    after = tail if tail and body.endswith(tail) and len(body) >= len(before) + len(tail) else ""
    middle = body[len(before) : len(body) - len(after)]
    return [
        _Piece(indent, ""),
        _Piece(before, line.lead_style),
        _Piece(middle, line.style),
        _Piece(after, line.tail_style),
    ]
