"""What pydantic found wrong, in our words: what, and what to do. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from launcher import findings
from launcher.model import Finding
from launcher.profile.document import Document
from launcher.profile.schema import Profile


def sentences(error: ValidationError, document: Document) -> Iterator[Finding]:
    """One finding for each error, with the place of the key."""
    for entry in error.errors(include_url=False):
        if entry["loc"][-1] == "literal['none']":
            continue  # the other member of `ready`'s union has said what is wrong
        key = _dotted(entry["loc"])
        code, what, fix = _words(entry, key)
        yield findings.error(code, f"{key}: {what}" if key else what, fix=fix, where=document.where(key))


def _dotted(location: tuple[int | str, ...]) -> str:
    """The key as it stands in the file: without what pydantic adds for union members and keys of mappings."""
    return ".".join(str(part) for part in location if not str(part).endswith((")", "]")) and part != "Ready")


def _words(entry: Any, key: str) -> tuple[str, str, str]:
    kind, message = entry["type"], str(entry["msg"])
    if kind == "extra_forbidden":
        return "profile-unknown-key", "there is no such key", _nearest(key)
    if kind == "missing":
        return "profile-missing-key", "is missing", f"Add {key.rpartition('.')[2]}."
    if kind == "literal_error":
        given, expected = entry["input"], str(entry["ctx"]["expected"]).replace("'", "").replace(" or ", ", ")
        near = difflib.get_close_matches(str(given), expected.split(", "), n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        return "profile-value", f"{given!r} is not one of {expected}{hint}", f"Write one of {expected}."
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return "profile-value", "expected a mapping", "Write KEY: VALUE lines, indented below it."
    what, _, fix = message.removeprefix("Value error, ").partition("; ")
    return "profile-value", what, f"{fix[:1].upper()}{fix[1:]}." if fix else ""


def _nearest(key: str) -> str:
    """The nearest key at that level, and all of them."""
    parent, _, name = key.rpartition(".")
    known = sorted(_keys_below(parent))
    near = difflib.get_close_matches(name, known, n=1)
    return f"{f'Did you mean {near[0]}? ' if near else ''}Known here: {', '.join(known)}."


def _keys_below(parent: str) -> Iterator[str]:
    model: type[BaseModel] = Profile
    for part in parent.split(".") if parent else ():
        model = next((found for name, found in _parts(model) if name == part), model)
    for name, field in model.model_fields.items():
        yield field.alias or name


def _parts(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The mappings below a mapping, by key."""
    for name, field in model.model_fields.items():
        for kind in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield field.alias or name, kind
