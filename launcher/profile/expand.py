"""`${VAR}`, `${VAR:-default}`, `${VAR:?message}`, `$$` and a leading `~`, on parsed scalars only.

Raw text is never expanded: a value with `#` or a newline would change the document (mostlygeek/llama-swap#336). An
unset variable is an error. What was expanded from a secret variable is remembered so that it can be masked. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from launcher.profile.scalars import Number
from launcher.secrets import is_secret_name

EXPANDED = ("model", "target", "cwd", "env", "args", "command")
_REFERENCE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<body>[^}]*)\})")
_BODY = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:-|:\?)(?P<rest>.*))?", re.DOTALL)


@dataclass
class Expansion:
    """Expands a tree with one environment; collects what went wrong and which secrets went in."""

    environ: Mapping[str, str]
    home: str | None
    problems: list[tuple[str, str, str]] = field(default_factory=list)  # dotted key, what, what to do
    secrets: set[str] = field(default_factory=set)

    def tree(self, value: Any, key: str = "") -> Any:
        """The same tree with every text expanded; types are kept."""
        if isinstance(value, dict):
            return {name: self.tree(entry, f"{key}.{name}" if key else name) for name, entry in value.items()}
        if isinstance(value, list):
            return [self.tree(entry, f"{key}.{index}") for index, entry in enumerate(value)]
        if isinstance(value, str) and not isinstance(value, Number):
            return self.text(value, key)
        return value

    def text(self, text: str, key: str) -> str:
        """One scalar. A lone `$` is a dollar."""
        if self.home and (text == "~" or text.startswith("~/")):
            text = self.home + text[1:]
        return "".join(self._pieces(text, key))

    def _pieces(self, text: str, key: str) -> Iterator[str]:
        position = 0
        for match in _REFERENCE.finditer(text):
            yield text[position : match.start()]
            yield "$" if match["dollar"] else self._reference(match["body"], match[0], key)
            position = match.end()
        yield text[position:]

    def _reference(self, body: str, whole: str, key: str) -> str:
        parts = _BODY.fullmatch(body)
        if parts is None:
            self.problems.append((key, f"{whole} names no variable", "Write ${NAME}, or $${...} for the characters."))
            return whole
        name, operator, rest = parts["name"], parts["operator"], parts["rest"]
        value = self.environ.get(name, "")
        if value or (operator is None and name in self.environ):
            if is_secret_name(name):
                self.secrets.add(value)
            return value
        if operator == ":-":
            return rest or ""
        if operator == ":?":
            self.problems.append((key, f"${{{name}}} is not set: {rest or 'it is required'}", f"Export {name}."))
        else:
            self.problems.append(
                (key, f"${{{name}}} is not set", f"Export {name}, or give a default: ${{{name}:-VALUE}}.")
            )
        return ""


def expand(tree: dict[str, Any], environ: Mapping[str, str], home: str | None) -> tuple[dict[str, Any], Expansion]:
    """The tree with the keys of `EXPANDED` expanded."""
    expansion = Expansion(environ, home)
    expanded = {key: expansion.tree(value, key) if key in EXPANDED else value for key, value in tree.items()}
    return expanded, expansion
