"""From pydantic's JSON Schema to the one that editors get: what `extends` allows, nothing of Python, and the same bytes
from every version of pydantic (2.6 and 2.14 differ in defaults and in `allOf`). Pure.
"""

from __future__ import annotations

from typing import Any

_TITLE = "gpulaunch profile, schema 1"
_LEFT_OUT = ("title", "default", "discriminator")
# In the order in which they are written; the rest follows by name.
_FIRST = ("description", "examples", "type", "const", "enum", "pattern")

Schema = dict[str, Any]


def schema(generated: Schema) -> Schema:
    """The schema of one file: each optional key may be null (which removes what a parent says), and the engine may
    come from a parent.
    """
    definitions = {name: _mapping(part) for name, part in sorted(generated["$defs"].items())}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": _TITLE,
        **_mapping(generated),
        "required": ["name"],
        "anyOf": [{"required": ["schema", "engine"]}, {"required": ["extends"]}],
        "$defs": definitions,
    }


def _mapping(part: Schema) -> Schema:
    """A mapping of the profile; its keys in the order of the model."""
    required = part.get("required", ())
    return {
        "description": part["description"],
        "type": "object",
        "additionalProperties": False,
        "properties": {
            name: _plain(value) if name in required else _removable(_plain(value))
            for name, value in part["properties"].items()
        },
    }


def _plain(value: Schema) -> Schema:
    """The same schema, spelled in one way."""
    if set(value) - set(_LEFT_OUT) == {"allOf"} and len(value["allOf"]) == 1:
        return _plain(value["allOf"][0])
    kept = {keyword: _inside(keyword, rule) for keyword, rule in value.items() if keyword not in _LEFT_OUT}
    if "patternProperties" in kept:
        kept["additionalProperties"] = False
    order = [keyword for keyword in _FIRST if keyword in kept]
    return {keyword: kept[keyword] for keyword in (*order, *sorted(kept.keys() - set(order)))}


def _inside(keyword: str, rule: Any) -> Any:
    """The schemas inside a keyword."""
    if keyword in ("anyOf", "oneOf", "allOf"):
        return [_plain(entry) for entry in rule]
    if keyword == "patternProperties":
        return {pattern: _removable(_plain(entry)) for pattern, entry in rule.items()}
    if keyword == "additionalProperties" and isinstance(rule, dict):
        return _removable(_plain(rule))
    if keyword == "items":
        return _plain(rule)
    return rule


def _removable(value: Schema) -> Schema:
    """Also null, keeping the description where editors look for it."""
    kept = {keyword: rule for keyword, rule in value.items() if keyword in ("description", "examples")}
    rest = {keyword: rule for keyword, rule in value.items() if keyword not in kept}
    kinds = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
    return {**kept, "anyOf": [*(kind for kind in kinds if kind != {"type": "null"}), {"type": "null"}]}
