"""YAML text to a plain tree, every key with the line it stands on, and every problem at once.

PyYAML reads the structure only: what a scalar means is decided by `launcher.profile.scalars`, and a key that stands
twice is an error instead of a silent "last one wins" (FAIR-Chem/fairchem#658). Pure.
"""

from __future__ import annotations

from typing import Any

import yaml

from launcher.model import Where
from launcher.profile.document import REFUSED, Document, dotted, short, shown
from launcher.profile.scalars import Ambiguous, read_plain
from launcher.profile.syntax import syntax_error
from launcher.secrets import is_secret_name

# A profile has a hundred nodes and is four deep; a bomb of aliases has billions and is never done.
_MOST_NODES = 20_000
_DEEPEST = 20

# `policy: no` is answered by the two words that count, not by the two readings of `no`.
_TEXT_ALWAYS = ("restart.policy",)

_WHOLE = "A profile is one mapping that begins with schema: 1, name and engine."


class _Loader(yaml.SafeLoader):
    """Composes nodes and decides nothing about them: one without a tag in the text gets an empty tag.

    The pure Python loader: the C one loses the column of some errors, and profiles are small.
    """

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        return ""


class _TooMuch(Exception):
    """The walk would not end."""


def parse(text: str, file: str) -> Document:
    """The document, however broken: what could be read, and all that is wrong."""
    document = Document(file)
    try:
        nodes = list(yaml.compose_all(text, Loader=_Loader))
    # ValueError and OverflowError: escapes that name no character ("\\UFFFFFFFF"), in PyYAML 6.0's scanner.
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        line, what, fix = syntax_error(error, text)
        document.error("profile-syntax", "", what, fix, Where(file, line))
        document.incomplete = True
        return document
    root = _only_mapping(nodes, document)
    if root is None:
        document.incomplete = True
        return document
    try:
        document.tree = _Walk(document).mapping(root, "")
    except _TooMuch:
        fix = "Write it flatter, without aliases."
        document.error("profile-syntax", "", "it is nested or repeated without end", fix, Where(file, None))
        document.incomplete = True
    return document


def _only_mapping(nodes: list[yaml.Node], document: Document) -> yaml.MappingNode | None:
    """The one mapping that a profile is; else a problem is noted."""
    if not nodes:
        document.error("profile-syntax", "", "there is nothing in it", _WHOLE, Where(document.file, None))
    elif len(nodes) > 1:
        what, fix = "a second document begins here, after ---", "One file holds one profile: use two files."
        document.error("profile-syntax", "", what, fix, _place(nodes[1], document))
    elif not isinstance(nodes[0], yaml.MappingNode):
        kind = "a list" if isinstance(nodes[0], yaml.SequenceNode) else "one text"
        fix = f"{_WHOLE} A colon is followed by a space."
        document.error("profile-syntax", "", f"this is {kind}, not a mapping", fix, _place(nodes[0], document))
    else:
        return nodes[0]
    return None


def _place(node: yaml.Node, document: Document) -> Where:
    return Where(document.file, node.start_mark.line + 1)


class _Walk:
    """Goes through composed nodes once; an alias is followed, but only so deep and so often."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.left = _MOST_NODES
        self.depth = 0

    def mapping(self, node: yaml.MappingNode, parent: str) -> dict[str, Any]:
        """Every key once; the first of two counts."""
        tree: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node, parent)
            if key is None:
                continue
            path, place = dotted(parent, key), _place(key_node, self.document)
            if key in first:
                what = f"it stands twice, here and on line {first[key]}"
                self.document.error("profile-duplicate-key", path, what, "Keep one of them.", place)
                continue
            first[key] = place.line or 0
            self.document.lines.setdefault(path, place)
            tree[key] = self.value(value_node, path)
        return tree

    def key(self, node: yaml.Node, parent: str) -> str | None:
        """A key is text as it is spelled, whatever it would mean as a value."""
        if not isinstance(node, yaml.ScalarNode):
            self.problem(parent, "a key here is no word", "Write KEY: VALUE, with quotes around braces.", node)
            return None
        if node.value == "<<" and node.style is None:
            fix = "Use extends: [NAME], which takes over another profile."
            self.problem(parent, "merge keys (<<) are not read", fix, node)
            return None
        if node.tag:
            self.problem(parent, f"a key has the tag {short(node.tag)}", "Leave it out.", node)
            return None
        if not _is_text(node.value):
            self.problem(parent, "a key holds a character that is no text", "Leave it out.", node)
            return None
        return str(node.value)

    def value(self, node: yaml.Node, path: str) -> Any:
        """The value, or REFUSED where a problem was noted."""
        self.left -= 1
        self.depth += 1
        if self.left < 0 or self.depth > _DEEPEST:
            raise _TooMuch
        value = self._value(node, path)
        self.depth -= 1
        return value

    def _value(self, node: yaml.Node, path: str) -> Any:
        if node.tag:
            what, fix = f"it has the tag {short(node.tag)}", "Leave the tag out; quotes make a text of it."
            self.problem(path, what, fix, node)
            return REFUSED
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.entry(entry, dotted(path, index)) for index, entry in enumerate(node.value)]
        return self.scalar(node, path)

    def entry(self, node: yaml.Node, path: str) -> Any:
        self.document.lines.setdefault(path, _place(node, self.document))
        return self.value(node, path)

    def scalar(self, node: yaml.Node, path: str) -> Any:
        text = str(node.value)
        if not _is_text(text):
            self.problem(path, "it holds a character that is no text (NUL, or half of one)", "Leave it out.", node)
            return REFUSED
        if isinstance(node, yaml.ScalarNode) and node.style is not None:
            return text
        value = read_plain(text)
        if isinstance(value, Ambiguous):
            if text and path in _TEXT_ALWAYS:
                return text
            what, fix = _ambiguous(value, path)
            self.document.error("profile-scalar", path, what, fix, _place(node, self.document))
            return REFUSED
        return value

    def problem(self, path: str, what: str, fix: str, node: yaml.Node) -> None:
        self.document.error("profile-syntax", path, what, fix, _place(node, self.document))


def _ambiguous(value: Ambiguous, path: str) -> tuple[str, str]:
    """What is wrong and what to do; a secret is not repeated."""
    if not value.text:
        return f"it has no value, which may be {value.reading}", f"Write {value.offered()}, or leave the key out."
    if any(is_secret_name(part) for part in path.split(".")):
        return f"it may be {value.reading}", "Put it in quotes, if it is text."
    return f"{short(shown(value.text))} may be {value.reading}", f"Write {value.offered()}."


def _is_text(text: str) -> bool:
    """False for what no argument, variable or file name can hold: NUL and lone surrogates."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
