"""What pydantic found wrong, in our words: what, and what to do. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from launcher.profile.document import REFUSED, Document, named, short
from launcher.profile.schema import EngineName, Profile

# What a mapping looks like, for those who wrote something else in its place.
_EXAMPLES = {
    "requires": 'requires: {sglang: ">=0.5.14"}',
    "target": "target: {venv: DIR}",
    "args": "args: {port: 8000}",
    "gpus": "gpus: {count: 8}",
    "cuda": "cuda: {toolkit: auto}",
    "env": "env: {set: {NAME: VALUE}}",
    "env.set": "set: {NAME: VALUE}",
    "live": "live: {stall: 5m}",
    "stop": "stop: {grace: 60s}",
    "restart": "restart: {policy: on-failure}",
    "log": "log: {rotate: 64MiB}",
}


def tell(error: ValidationError, document: Document) -> None:
    """One finding for each error, with the place of its key; none for a value that was refused before."""
    for entry in error.errors(include_url=False):
        if entry["input"] is REFUSED or (document.incomplete and entry["type"] == "missing"):
            continue
        key = _dotted(entry, document)
        code, what, fix = _words(entry, key)
        document.error(code, key, what, fix)


def _dotted(entry: Any, document: Document) -> str:
    """The key as it stands in the file. Pydantic adds the member of the union of `ready`, a mark for keys of mappings,
    and an index where one value stands for a list.
    """
    location: tuple[int | str, ...] = entry["loc"]
    if location[0] == "ready":
        location = (location[0], *location[2:])
    if location[-1] == "[key]" and entry["type"] != "extra_forbidden":
        location = location[:-1]
    key = ".".join(map(str, location))
    return key.rpartition(".")[0] if isinstance(location[-1], int) and key not in document.lines else key


def _words(entry: Any, key: str) -> tuple[str, str, str]:
    """The code, what is wrong and what to do."""
    kind = entry["type"]
    if kind == "profile":
        return "profile-value", entry["ctx"]["what"], entry["ctx"]["fix"]
    if kind == "extra_forbidden":
        return "profile-unknown-key", "there is no such key", _nearest(key)
    if kind == "missing":
        return "profile-missing-key", "it is missing", f"Add {_missing(key)}."
    if kind == "literal_error":
        return "profile-value", *_not_one_of(entry)
    example = _EXAMPLES.get(key, "KEY: VALUE lines, indented below it")
    return "profile-value", "expected a mapping", f"Write {example}."


def _missing(key: str) -> str:
    return {"schema": "schema: 1", "engine": f"engine: {' or '.join(get_args(EngineName))}"}.get(key, f"{key}: NAME")


def _not_one_of(entry: Any) -> tuple[str, str]:
    """Of the two literals only `engine` comes here; `ready` has its own words."""
    known: tuple[str, ...] = get_args(EngineName)
    given = entry["input"]
    said = short(given) if isinstance(given, str) else "this"
    near = difflib.get_close_matches(said, known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return f"{said} is not one of {', '.join(known)}", f"{hint}Write one of them."


def _nearest(key: str) -> str:
    """Where the key may belong, and what is known at its place."""
    parent, _, name = key.rpartition(".")
    known = tuple(sorted(_keys(_at(parent))))
    return f"{_hint(parent, name, known)}Known here: {', '.join(known)}."


def _hint(parent: str, name: str, known: tuple[str, ...]) -> str:
    wanted = name.lower()
    elsewhere = [
        path for path in _every_key() if path.rpartition(".")[2] == wanted and path.rpartition(".")[0] != parent
    ]
    if elsewhere:
        return f"Did you mean {' or '.join(elsewhere)}? "
    near = difflib.get_close_matches(wanted, known, n=1)
    if near:
        return f"Did you mean {near[0]}? "
    if parent == "env":
        return f"Variables stand below env.set: set: {{{named(name)}: VALUE}}. "
    return "Options of the engine stand below args. " if not parent else ""


def _at(path: str) -> type[BaseModel]:
    """The mapping at a dotted path."""
    model: type[BaseModel] = Profile
    for part in path.split(".") if path else ():
        model = dict(_parts(model)).get(part, model)
    return model


def _keys(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield field.alias or name


def _parts(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The mappings below a mapping, by key."""
    for name, field in model.model_fields.items():
        for kind in _members(field.annotation):
            # Python 3.10 calls tuple[str, ...] a type too.
            if isinstance(kind, type) and get_origin(kind) is None and issubclass(kind, BaseModel):
                yield field.alias or name, kind


def _members(annotation: Any) -> Iterator[Any]:
    """A type and what it is a union or an annotation of."""
    yield annotation
    for member in getattr(annotation, "__args__", ()):
        yield from _members(member)


def _every_key() -> Iterator[str]:
    """Every key below a mapping, with its path."""
    for parent, model in _parts(Profile):
        yield from (f"{parent}.{name}" for name in _keys(model))
