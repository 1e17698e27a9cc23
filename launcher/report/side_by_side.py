"""The caller's variables beside the server's, as a table for people: lists such as PATH one entry a line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from launcher.diagnosis import Variable
from launcher.model import Plan

NOT_SET = "(not set)"
LISTS = ("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH")
HEAD = ("", "your environment", "the server's")

Row = tuple[str, str, str]


def rows(variables: Iterable[Variable], plan: Plan) -> Iterator[Row]:
    """Variable by variable; `plan` is masked."""
    yield HEAD
    for variable in variables:
        planned = plan.env.get(variable.name)
        yield from _row(variable.name, variable.callers, planned)


def _row(name: str, callers: str | None, planned: str | None) -> Iterator[Row]:
    before, after = _entries(name, callers), _entries(name, planned)
    for number in range(max(len(before), len(after))):
        yield (
            name if number == 0 else "",
            before[number] if number < len(before) else "",
            after[number] if number < len(after) else "",
        )


def _entries(name: str, value: str | None) -> list[str]:
    if value is None:
        return [NOT_SET]
    if name in LISTS and value:
        return value.split(":")
    return [value or "(empty)"]


def table(found: Iterable[Row]) -> Iterator[str]:
    """Columns as wide as they must be, the last one ragged."""
    listed = list(found)
    first, second = (max((len(row[column]) for row in listed), default=0) for column in (0, 1))
    for row in listed:
        yield f"{row[0]:{first}}  {row[1]:{second}}  {row[2]}".rstrip()
