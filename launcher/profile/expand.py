"""`${VAR}`, `${VAR:-default}`, `${VAR:?message}`, `$$` and a leading `~`, on parsed scalars only.

Raw text is never expanded: a value with `#` or a newline would change the document (mostlygeek/llama-swap#336), and
braces of JSON or of a template are no placeholders (eugr/spark-vllm-docker#163). Types are kept: numbers, true and
false stay what they are, and what comes from a variable is text. Unset is an error. No value is ever part of a
message; what came from a secret variable is remembered so that it can be masked. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from launcher.profile.document import REFUSED, Document, dotted, short
from launcher.profile.scalars import Number
from launcher.secrets import is_secret_name

# The keys below which it happens (contract); elsewhere ${...} is an error, as it would be taken for the text itself.
EXPANDED = ("model", "target", "cwd", "env", "args", "command")

_BODY = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:-|:\?)(?P<rest>.*))?", re.DOTALL)
_BARE = re.compile(r"(?<!\$)(?:\$\$)*\$(?P<name>[A-Z_][A-Z0-9_]+)")
_PLACEHOLDER = re.compile(r"\$\{[A-Za-z_]")
_DEEPEST = 5  # defaults inside defaults


def expand(document: Document, environ: Mapping[str, str], home: str | None) -> frozenset[str]:
    """Expands the document's tree in place. Returns the values of secret variables that went into it.

    `home` is what `~` stands for; None where there is none.
    """
    expansion = _Expansion(document, environ, home)
    for key, value in document.tree.items():
        if key in EXPANDED:
            document.tree[key] = expansion.tree(value, key)
        elif key != "description":
            document.tree[key] = _unexpanded(value, key, document)
    return frozenset(expansion.secrets)


def _unexpanded(value: Any, key: str, document: Document) -> Any:
    """`${VAR}` where nothing is expanded is a mistake, not a text."""
    if isinstance(value, dict):
        return {name: _unexpanded(entry, dotted(key, name), document) for name, entry in value.items()}
    if isinstance(value, list):
        return [_unexpanded(entry, dotted(key, index), document) for index, entry in enumerate(value)]
    if isinstance(value, str) and _PLACEHOLDER.search(value):
        fix = f"Write the value; variables are expanded in {', '.join(EXPANDED)}."
        document.error("profile-expansion", key, "${...} is not expanded here", fix)
        return REFUSED
    return value


class _Problem(Exception):
    """What is wrong and what to do."""


class _Expansion:
    def __init__(self, document: Document, environ: Mapping[str, str], home: str | None) -> None:
        self.document = document
        self.environ = environ
        self.home = home
        self.secrets: set[str] = set()

    def tree(self, value: Any, key: str) -> Any:
        """The same tree with every text expanded; REFUSED where that was not possible."""
        if isinstance(value, dict):
            return {name: self.tree(entry, dotted(key, name)) for name, entry in value.items()}
        if isinstance(value, list):
            return [self.tree(entry, dotted(key, index)) for index, entry in enumerate(value)]
        if not isinstance(value, str) or isinstance(value, Number):
            return value
        self.bare_names(value, key)
        try:
            return self.text(value, 0)
        except _Problem as problem:
            what, fix = problem.args
            self.document.error("profile-expansion", key, what, fix)
            return REFUSED

    def text(self, text: str, depth: int) -> str:
        """One scalar, or a default inside one."""
        if depth > _DEEPEST:
            raise _Problem("defaults stand too deep inside each other", "Write it flatter.")
        return "".join(self.pieces(self.at_home(text), depth))

    def at_home(self, text: str) -> str:
        """The text with a leading `~` replaced, kept from being expanded again."""
        if text != "~" and not text.startswith("~/"):
            return text
        if self.home is None:
            raise _Problem("~ stands for no folder: HOME is not set", "Write the whole path, or set HOME.")
        return self.home.replace("$", "$$") + text[1:]

    def pieces(self, text: str, depth: int) -> Iterator[str]:
        """The parts of the expanded text. A lone `$` is a dollar."""
        position = 0
        while (dollar := text.find("$", position)) >= 0:
            yield text[position:dollar]
            following = text[dollar + 1 : dollar + 2]
            position = dollar + 2
            if following == "{":
                end = _closing(text, position)
                yield self.reference(text[position:end], depth)
                position = end + 1
            elif following == "$":
                yield "$"
            else:
                yield "$"
                position = dollar + 1
        yield text[position:]

    def reference(self, body: str, depth: int) -> str:
        """What stands between the braces."""
        parts = _BODY.fullmatch(body)
        if parts is None:
            what = "between ${ and } stands no name of a variable"
            raise _Problem(what, "Write ${NAME}, ${NAME:-default} or ${NAME:?message}; $${ stands for the characters.")
        name, operator, rest = parts["name"], parts["operator"], parts["rest"]
        value = self.environ.get(name)
        if value or (value is not None and operator is None):
            if value and is_secret_name(name):
                self.secrets.add(value)
            return value
        if operator == ":-":
            return self.text(rest, depth + 1)
        said = f": {short(rest)}" if rest else ""
        state = "not set" if value is None else "empty"
        raise _Problem(f"${{{name}}} is {state}{said}", f"Export {name}, or give a default: ${{{name}:-VALUE}}.")

    def bare_names(self, text: str, key: str) -> None:
        """`$NAME` stays as it is, which a shell would not do: worth a word."""
        found = None if any(is_secret_name(part) for part in key.split(".")) else _BARE.search(text)
        if found:
            name = found["name"]
            fix = f"Write ${{{name}}} for the variable, or $${name} for the characters."
            self.document.warning("profile-bare-dollar", key, f"${name} without braces is not expanded", fix)


def _closing(text: str, start: int) -> int:
    """Where the brace that was opened just before `start` is closed, braces inside it counted."""
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise _Problem("a ${ is not closed", "Close it with }; $${ stands for the characters.")
