"""The known failure texts: `signatures.yaml`, read and checked once, when somebody first asks. Pure but for that.

Each entry has a `code`; the `text` that a line must hold, letter by letter; a `pattern` where that is not enough, whose
named groups may stand in `cause` and `fix`; a `class`; a `kind`; a `source`; and `examples`, real lines that it must
match. `dead: true`: whoever says this will not serve again, even where the process lives on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import resources
from typing import Any

from launcher.causes.classes import Failure

# Substrings of which at least one stands in every line that is to be recognised: whole chunks are searched for them,
# and only lines that hold one are looked at. Few and long, as each costs a pass over the output.
TRIGGERS = ("rror", "ailed", "annot", "fatal", "atchdog", "not found", "unexpectedly", "NCCL WARN", "couldn't bind")
# The first line of a traceback is looked at in any case.
TRACEBACK = "Traceback (most recent call last):"

_KEYS = {"code", "text", "pattern", "cause", "fix", "class", "kind", "dead", "source", "examples"}
_REQUIRED = _KEYS - {"pattern", "kind", "dead"}


class Kind(str, Enum):
    """How much a text says: a root names a cause, a hint may, a wrapper only says that there is one further up.

    A death is somebody's end without a word: a hint if no exception was told before it, else a wrapper.
    """

    ROOT = "root"
    HINT = "hint"
    DEATH = "death"
    WRAPPER = "wrapper"


@dataclass(frozen=True, kw_only=True)
class Signature:
    """One known failure text."""

    code: str
    text: str
    pattern: re.Pattern[str]
    cause: str
    fix: str
    failure: Failure
    kind: Kind
    dead: bool
    source: str
    examples: tuple[str, ...]

    def match(self, line: str) -> re.Match[str] | None:
        """The match in a line, or None."""
        return self.pattern.search(line) if self.text in line else None


class BadSignatures(ValueError):
    """The data file is not as it should be: a mistake of ours, found by the tests."""


@cache
def signatures() -> tuple[Signature, ...]:
    """All of them, in the file's order: of two that match one line, the earlier counts."""
    import yaml  # not needed before somebody's output is read

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = resources.files("launcher.causes").joinpath("signatures.yaml").read_text(encoding="utf-8")
    return parse(yaml.load(text, loader))


def parse(entries: Any) -> tuple[Signature, ...]:
    """The entries of the file. Raises BadSignatures."""
    if not isinstance(entries, list):
        raise BadSignatures("a list of signatures is expected")
    found = tuple(_signature(entry) for entry in entries)
    codes = [signature.code for signature in found]
    twice = sorted({code for code in codes if codes.count(code) > 1})
    if twice:
        raise BadSignatures(f"used twice: {', '.join(twice)}")
    return found


def _signature(entry: Any) -> Signature:
    if not isinstance(entry, Mapping):
        raise BadSignatures(f"a mapping is expected, not {entry!r}")
    code = entry.get("code")
    if unknown := set(entry) - _KEYS:
        raise BadSignatures(f"{code}: unknown {', '.join(sorted(unknown))}")
    if missing := _REQUIRED - set(entry):
        raise BadSignatures(f"{code}: without {', '.join(sorted(missing))}")
    text = str(entry["text"])
    try:
        pattern = re.compile(str(entry.get("pattern", re.escape(text))))
        made = Signature(
            code=str(code),
            text=text,
            pattern=pattern,
            cause=str(entry["cause"]),
            fix=str(entry["fix"]),
            failure=Failure(entry["class"]),
            kind=Kind(entry.get("kind", "root")),
            dead=bool(entry.get("dead", False)),
            source=str(entry["source"]),
            examples=tuple(str(example) for example in entry["examples"]),
        )
    except (re.error, ValueError) as error:
        raise BadSignatures(f"{code}: {error}") from error
    for example in made.examples:
        if made.match(example) is None:
            raise BadSignatures(f"{code}: does not match its example {example!r}")
        if not any(trigger in example for trigger in (*TRIGGERS, TRACEBACK)):
            raise BadSignatures(f"{code}: no trigger would lead to {example!r}")
    names = dict.fromkeys(pattern.groupindex, "")
    try:
        filled(made.cause, names)
        filled(made.fix, names)
    except (KeyError, IndexError, ValueError) as error:
        raise BadSignatures(f"{code}: a sentence names a group that the pattern lacks: {error}") from error
    return made


def filled(sentence: str, groups: Mapping[str, str | None]) -> str:
    """The sentence with what the groups of the match hold."""
    return sentence.format_map({name: value or "" for name, value in groups.items()})
