"""One profile on top of others: maps merge key by key, lists and scalars replace, null removes, a later parent wins.

Every key's place follows the file that won. A circle is named with its whole chain.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from launcher import findings
from launcher.errors import Refused
from launcher.model import Where
from launcher.paths import Places
from launcher.profile.document import Document, dotted, shown
from launcher.profile.lookup import Located, identity, locate

Reader = Callable[[Located], Document]
Chain = tuple[Located, ...]

# What a parent says about itself, not about its children.
_OWN = ("name", "description", "extends")
_LONGEST_CHAIN = 20


def merged(located: Located, *, read: Reader, places: Places) -> Document:
    """The document with all its parents below it; the problems of every file are in its findings.

    Raises Refused where the file itself cannot be read.
    """
    return _Merging(read, places).whole(located, ())


class _Merging:
    """Reads each file once: parents that share a parent would else be read twice as often at every step."""

    def __init__(self, read: Reader, places: Places) -> None:
        self.read = read
        self.places = places
        self.done: dict[Path, Document] = {}

    def whole(self, located: Located, chain: Chain) -> Document:
        """A file with its parents below it."""
        path = identity(located.path)
        if path not in self.done:
            own = self.read(located)
            document = Document(own.file, findings=list(own.findings), incomplete=own.incomplete)
            for index, reference in enumerate(_parents(own)):
                place = own.where(f"extends.{index}")
                _lay_over(document, self.parent(reference, place, located, (*chain, located)), leave_out=_OWN)
            _lay_over(document, own, leave_out=())
            self.done[path] = document
        return self.done[path]

    def parent(self, reference: str, place: Where, child: Located, chain: Chain) -> Document:
        """A parent, or an empty document that says why there is none."""
        try:
            located = locate(
                reference,
                places=self.places,
                relative_to=str(child.path.parent),
                beside=child.label.rpartition("/")[0],
            )
            _judge(chain, located, place)
            return self.whole(located, chain)
        except Refused as refused:
            because = [_inherited(finding, reference, place) for finding in refused.findings]
            return Document(child.label, findings=because, incomplete=True)


def _parents(own: Document) -> list[str]:
    value = own.tree.get("extends", [])
    return [entry for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, str)]


def _judge(chain: Chain, located: Located, place: Where) -> None:
    """Raises Refused for a circle."""
    path = identity(located.path)
    names = [link.label for link in (*chain, located)]
    if path in {identity(link.path) for link in chain}:
        what = f"{shown(' -> '.join(names))} is a circle."
        raise Refused([findings.error("profile-extends", what, fix="Remove one of them.", where=place)])
    if len(names) > _LONGEST_CHAIN:
        what = "profiles extend each other more than 20 deep."
        raise Refused([findings.error("profile-extends", what, fix="Write them flatter.", where=place)])


def _inherited(finding: Any, reference: str, place: Where) -> Any:
    """What keeps a parent from being read, told where it is named. The code, and with it the exit code, stays."""
    what = f"extends: {shown(reference)}: {finding.message[:1].lower()}{finding.message[1:]}"
    if finding.code == "profile-extends":
        what = f"extends: {finding.message}"
    return findings.error(finding.code, what, fix=finding.fix, where=place)


def _lay_over(document: Document, upper: Document, *, leave_out: tuple[str, ...]) -> None:
    """Puts `upper` on top."""
    over = {key: value for key, value in upper.tree.items() if key not in leave_out}
    document.findings = list(dict.fromkeys((*document.findings, *upper.findings)))
    document.incomplete = document.incomplete or upper.incomplete
    document.tree = _merge(document.tree, over, "", document, upper)
    for key, place in upper.lines.items():
        if key.partition(".")[0] not in leave_out:
            document.lines[key] = place


def _merge(
    below: dict[str, Any], over: dict[str, Any], path: str, document: Document, upper: Document
) -> dict[str, Any]:
    result = dict(below)
    for name, value in over.items():
        key, under = dotted(path, name), result.get(name)
        if isinstance(value, dict):
            if not isinstance(under, dict):
                _forget(document, key, name in result)
                under = {}
            result[name] = _merge(under, value, key, document, upper)
        elif value is None:
            if name not in result:
                _removes_nothing(key, document, upper)
            _forget(document, key, name in result)
            result.pop(name, None)
        else:
            _forget(document, key, name in result)
            result[name] = value
    return result


def _forget(document: Document, key: str, was_there: bool) -> None:
    """What stood below a key that is replaced stands nowhere any more."""
    if was_there:
        for line in [line for line in document.lines if line == key or line.startswith(f"{key}.")]:
            del document.lines[line]


def _removes_nothing(key: str, document: Document, upper: Document) -> None:
    """Below an option a null may be meant for the JSON that it becomes: to drop it in silence would be another wish."""
    what, place = "null removes what a parent says, and none says it", upper.where(key)
    if key.startswith("args.") and key.count(".") > 1:
        fix = "Leave it out; a null for the engine is written in the option's value as one text, '{\"key\": null}'."
        document.error("profile-value", key, what, fix, place)
    else:
        document.warning("profile-without-effect", key, what, "Leave it out.", place)
