"""One profile on top of others: maps merge key by key, lists and scalars replace, null removes, a later parent wins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launcher import findings
from launcher.errors import Refused
from launcher.model import Where
from launcher.paths import Places
from launcher.profile.document import Document
from launcher.profile.lookup import Located, locate

Reader = Callable[[Located], Document]


def merged(located: Located, *, read: Reader, places: Places) -> Document:
    """The document with all its parents below it. Problems of every file are in its findings; cycles are named."""
    return _merged(located, read, places, ())


def _merged(located: Located, read: Reader, places: Places, chain: tuple[Located, ...]) -> Document:
    own = read(located)
    whole = Document(own.file)
    whole.findings += own.findings
    for index, parent in enumerate(_parents(own)):
        key = f"extends.{index}" if f"extends.{index}" in own.lines else "extends"
        below = _parent(parent, own.where(key), located, read, places, (*chain, located))
        whole.findings += below.findings
        _lay_over(whole, below, keep=("name", "description", "extends"))
    _lay_over(whole, own, keep=())
    return whole


def _parents(own: Document) -> list[str]:
    value = own.tree.get("extends", [])
    return [entry for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, str)]


def _parent(
    reference: str, where: Where, child: Located, read: Reader, places: Places, chain: tuple[Located, ...]
) -> Document:
    broken = Document(child.label)
    try:
        located = locate(reference, places=places, relative_to=str(child.path.parent))
        names = [link.label for link in chain]
        if located.path.resolve() in {link.path.resolve() for link in chain}:
            what = f"extends: {' -> '.join([*names, located.label])} is a circle."
            broken.findings.append(findings.error("profile-extends", what, fix="Remove one of them.", where=where))
            return broken
        return _merged(located, read, places, chain)
    except Refused as refused:
        for finding in refused.findings:
            what = f"extends: {reference}: {finding.message}"
            broken.findings.append(findings.error("profile-extends", what, fix=finding.fix, where=where))
        return broken


def _lay_over(whole: Document, upper: Document, *, keep: tuple[str, ...]) -> None:
    """Puts `upper` on top. `keep`: keys of a parent that say what it is itself, not what its children are."""
    over = {key: value for key, value in upper.tree.items() if key not in keep}
    whole.tree = _merge(whole.tree, over)
    for key, where in upper.lines.items():
        if key.split(".")[0] not in keep:
            whole.lines[key] = where


def _merge(below: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in over.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            under = result.get(key)
            result[key] = _merge(under if isinstance(under, dict) else {}, value)
        else:
            result[key] = value
    return result
