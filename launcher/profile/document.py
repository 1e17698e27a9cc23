"""YAML text to a plain tree, every key with the line it stands on, and every problem at once.

PyYAML reads the structure only; what a scalar means is decided by `launcher.profile.scalars`, and a key that stands
twice is an error instead of a silent "last one wins". Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from launcher import findings
from launcher.model import Finding, Where
from launcher.profile.scalars import Ambiguous, offers, read_plain

LARGEST = 1 << 20  # bytes of a profile; more is no profile
_DEEPEST = 20

Key = tuple[str, ...]


@dataclass
class Document:
    """A profile file: its tree, where each key stands, and what is wrong with it."""

    file: str
    tree: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, Where] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def where(self, key: str) -> Where:
        """Where a dotted key stands, or its nearest parent that does."""
        while key and key not in self.lines:
            key = key.rpartition(".")[0]
        return self.lines.get(key, Where(self.file, None))


def parse(text: str, file: str) -> Document:
    """The document, however broken: what could be read, and all that is wrong."""
    document = Document(file)
    try:
        # The pure Python loader: the C one loses the column of some errors, and profiles are small.
        nodes = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        document.findings.append(_syntax(error, file))
        return document
    except RecursionError:
        document.findings.append(_problem(document, (), "is nested too deeply", "Write it flatter.", None))
        return document
    if len(nodes) != 1 or not isinstance(nodes[0], yaml.MappingNode):
        what = "is empty" if not nodes else "holds several documents" if len(nodes) > 1 else "is not a mapping"
        fix = "A profile is one mapping that begins with schema: 1, name and engine."
        document.findings.append(_problem(document, (), what, fix, nodes[0] if nodes else None))
        return document
    tree = _Reader(document).mapping(nodes[0], ())
    document.tree = tree if isinstance(tree, dict) else {}
    return document


def _syntax(error: yaml.YAMLError, file: str) -> Finding:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "a character it does not allow"
    context = getattr(error, "context", None)
    return findings.error(
        "profile-syntax",
        f"this is not YAML: {problem}{f' ({context})' if context else ''}",
        fix="Correct the indentation, quotes and brackets there.",
        where=Where(file, mark.line + 1 if mark else None),
    )


def _problem(document: Document, key: Key, what: str, fix: str, node: Any, code: str = "profile-syntax") -> Finding:
    line = node.start_mark.line + 1 if node is not None else None
    name = ".".join(key) or "the profile"
    return findings.error(code, f"{name}: {what}", fix=fix, where=Where(document.file, line))


class _Reader:
    """Walks composed nodes once; an alias is followed, but only so deep and so often."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.budget = 20_000  # nodes; a profile has a hundred, a bomb of aliases has billions

    def mapping(self, node: yaml.MappingNode, path: Key) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node, path)
            if key is None:
                continue
            here = (*path, key)
            line = key_node.start_mark.line + 1
            if key in first:
                what = f"stands twice, first on line {first[key]}"
                self.problem(here, what, "Keep one of them.", key_node, "profile-duplicate-key")
                continue
            first[key] = line
            self.document.lines.setdefault(".".join(here), Where(self.document.file, line))
            for value in self.value(value_node, here):
                tree[key] = value
        return tree

    def key(self, node: Any, path: Key) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self.problem(path, "has a key that is no word", "Write KEY: VALUE.", node)
            return None
        if node.value == "<<" and node.style is None:
            self.problem(path, "merge keys (<<) are not used here", "extends: [NAME] takes over another profile.", node)
            return None
        return str(node.value)

    def value(self, node: Any, path: Key) -> Iterator[Any]:
        """The value, or nothing where it is refused (a problem is noted then)."""
        self.budget -= 1
        if self.budget < 0 or len(path) > _DEEPEST:
            if self.budget >= -1:
                self.problem(path, "is nested or repeated without end", "Write it flatter, without aliases.", node)
            return
        if node.tag and not node.tag.startswith("tag:yaml.org,2002:"):
            self.problem(path, f"has the tag {node.tag}", "Tags have no meaning here; quote the text.", node)
        elif isinstance(node, yaml.MappingNode):
            yield self.mapping(node, path)
        elif isinstance(node, yaml.SequenceNode):
            entries = [self.value(entry, (*path, str(index))) for index, entry in enumerate(node.value)]
            for index, entry in enumerate(node.value):
                line = entry.start_mark.line + 1
                self.document.lines.setdefault(".".join((*path, str(index))), Where(self.document.file, line))
            yield [value for entry in entries for value in entry]
        else:
            yield from self.scalar(node, path)

    def scalar(self, node: yaml.ScalarNode, path: Key) -> Iterator[Any]:
        text = str(node.value)
        if node.style is not None:
            yield text
            return
        value = read_plain(text)
        if isinstance(value, Ambiguous):
            what = f"{text or 'nothing'} may be {value.reading}"
            self.problem(path, what, offers(value, text), node, "profile-scalar")
        else:
            yield value

    def problem(self, path: Key, what: str, fix: str, node: Any, code: str = "profile-syntax") -> None:
        self.document.findings.append(_problem(self.document, path, what, fix, node, code))
