"""The JSON Schema for editors: up to date, and of one mind with the loader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from launcher.profile import editors
from launcher.profile.lookup import shipped_folder
from launcher.profile.scalars import Number
from launcher.profile.schema import Profile, json_schema
from launcher.profile.tree import parse
from tests.profile.conftest import MINIMAL, Bench
from tests.profile.test_load import DESIGN

SCHEMA = json_schema()
KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "number": (int, float), "integer": (int,),
}  # fmt: skip


def is_valid(value: Any, schema: dict[str, Any]) -> bool:
    """As much of JSON Schema as ours uses. An unknown keyword is an error of this test."""
    return all(_holds(value, keyword, rule, schema) for keyword, rule in schema.items())


def _holds(value: Any, keyword: str, rule: Any, schema: dict[str, Any]) -> bool:
    if keyword in ("description", "examples", "title", "$defs", "$schema"):
        return True
    if keyword == "$ref":
        return is_valid(value, SCHEMA["$defs"][rule.rpartition("/")[2]])
    if keyword == "type":
        kinds = [kind for name in ([rule] if isinstance(rule, str) else rule) for kind in KINDS[name]]
        return type(value) in kinds
    if keyword in ("anyOf", "oneOf"):
        matching = sum(is_valid(value, entry) for entry in rule)
        return matching == 1 if keyword == "oneOf" else matching > 0
    if keyword == "const":
        return bool(value == rule)
    if keyword == "enum":
        return value in rule
    if keyword == "pattern":
        return not isinstance(value, str) or bool(re.search(rule, value))
    if keyword == "minLength":
        return not isinstance(value, str) or len(value) >= rule
    if keyword == "minimum":
        return not isinstance(value, (int, float)) or value >= rule
    if keyword == "items":
        return not isinstance(value, list) or all(is_valid(entry, rule) for entry in value)
    if keyword == "required":
        return not isinstance(value, dict) or set(rule) <= set(value)
    if keyword == "properties":
        return not isinstance(value, dict) or all(is_valid(value[name], rule[name]) for name in rule if name in value)
    if keyword == "patternProperties":
        return not isinstance(value, dict) or all(
            is_valid(entry, rule[pattern])
            for pattern in rule
            for name, entry in value.items()
            if re.search(pattern, name)
        )
    if keyword == "additionalProperties":
        others = [entry for name, entry in value.items() if not _is_named(name, schema)] if type(value) is dict else []
        return not others if rule is False else all(is_valid(entry, rule) for entry in others)
    raise AssertionError(f"this test does not know {keyword}")


def _is_named(name: str, schema: dict[str, Any]) -> bool:
    patterns = schema.get("patternProperties", {})
    return name in schema.get("properties", {}) or any(re.search(pattern, name) for pattern in patterns)


def as_editors_read(value: Any) -> Any:
    """Numbers are numbers to an editor."""
    if isinstance(value, dict):
        return {name: as_editors_read(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [as_editors_read(entry) for entry in value]
    if isinstance(value, Number):
        return int(value) if value.isdigit() else float(value)
    return value


def accepts(text: str) -> bool:
    return is_valid(as_editors_read(parse(text, "file").tree), SCHEMA)


def test_the_file_is_up_to_date() -> None:
    """`python -m launcher schema > schema/profile-1.schema.json` makes it anew."""
    written = (shipped_folder("schema") / "profile-1.schema.json").read_text(encoding="utf-8")
    assert written == json.dumps(SCHEMA, indent=2) + "\n"


def test_how_pydantic_spells_it_makes_no_difference() -> None:
    """2.6 wraps a reference in allOf and repeats defaults inside; 2.14 does neither."""
    part = {"description": "d", "type": "object", "properties": {"stop": {"$ref": "#/$defs/Stop"}}}
    other = {**part, "properties": {"stop": {"allOf": [{"$ref": "#/$defs/Stop", "title": "Stop"}], "default": {}}}}
    assert editors.schema({**part, "$defs": {"X": part}}) == editors.schema(
        {"title": "P", **other, "$defs": {"X": other}}
    )


def test_it_accepts_every_shipped_profile_and_the_design_s_example() -> None:
    files = sorted(shipped_folder().glob("*.yaml"))
    assert files
    for text in (DESIGN, *(file.read_text(encoding="utf-8") for file in files)):
        assert accepts(text)


@pytest.mark.parametrize(
    "lines",
    [
        "ready: none", "ready: {url: 'http://x/'}", "stop: {grace: 0}", "gpus: {select: [0, GPU-1], capability: 12.0}",
        "args: {a: 1, b: true, c: [1], d: {e: null}}", "extends: base", "model: null\nargs: null",
        "args: {port: null}\nenv: {set: {A: null}}\nrequires: {torch: null}",
        "live: {stall: 1h30m}",
        "target: {python: self}", "cuda: {arch: ['12.0', 9.0]}", "log: {rotate: 1.5GiB}", "env: {set: {A: 1}}",
    ],
)  # fmt: skip
def test_it_accepts_what_the_loader_takes(bench: Bench, lines: str) -> None:
    if "null" not in lines and "extends" not in lines:
        bench.asked(f"{lines}\n")
    assert accepts(f"{MINIMAL}{lines}\n")


@pytest.mark.parametrize(
    "lines",
    [
        "prot: 1", "stop: {grace: 60}", "stop: {graze: 60s}", "restart: {policy: always}", "gpus: {count: 0}",
        "gpus: 8",
        "ready: soon", "ready: {path: health}", "cuda: {arch: '12.0a'}", "log: {rotate: 64}", "env: {A: x}", "args: []",
        "model: true", "command: a b", "target: /opt/venv", "env: {set: {A-B: x}}", "env: {set: {PATH: x}}",
        "env: {unset: [CUDA_HOME]}",
    ],
)  # fmt: skip
def test_it_refuses_what_the_loader_refuses(bench: Bench, lines: str) -> None:
    assert bench.problems(f"{lines}\n")
    assert not accepts(f"{MINIMAL}{lines}\n")


def test_a_child_may_leave_its_engine_to_a_parent() -> None:
    assert accepts("name: mine\nextends: base\n")
    assert not accepts("schema: 1\nname: mine\n")
    assert not accepts("schema: 1\nengine: vllm\n")
    assert not accepts("schema: 2\nname: mine\nengine: vllm\n")


def test_every_key_is_described() -> None:
    assert set(SCHEMA["properties"]) == {field.alias or name for name, field in Profile.model_fields.items()}
    assert not list(_without_description(SCHEMA, "profile"))


def _without_description(part: dict[str, Any], path: str) -> Iterator[str]:
    for name, value in part["properties"].items():
        text = json.dumps(value)
        if "description" not in value and "#/$defs/" not in text:
            yield f"{path}.{name}"
    for name, definition in part.get("$defs", {}).items():
        if "description" not in definition:
            yield name
        yield from _without_description(definition, name)
