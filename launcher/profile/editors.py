"""From pydantic's JSON Schema to the one that editors get: what `extends` allows, and nothing of Python. Pure."""

from __future__ import annotations

from typing import Any

_TITLE = "gpulaunch profile, schema 1"


def schema(generated: dict[str, Any]) -> dict[str, Any]:
    """The schema of one file: each optional key may be null (which removes what a parent says), and the engine may
    come from a parent.
    """
    definitions = {name: _mapping(part) for name, part in generated["$defs"].items()}
    whole = _mapping({key: value for key, value in generated.items() if key != "$defs"})
    required = [name for name in whole.pop("required") if name == "name"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": _TITLE,
        **{key: value for key, value in whole.items() if key != "title"},
        "required": required,
        "anyOf": [{"required": ["schema", "engine"]}, {"required": ["extends"]}],
        "$defs": definitions,
    }


def _mapping(part: dict[str, Any]) -> dict[str, Any]:
    required = part.get("required", ())
    properties = {
        name: _value(value) if name in required else _removable(_value(value))
        for name, value in part["properties"].items()
    }
    return {**{key: value for key, value in part.items() if key != "title"}, "properties": properties}


def _value(value: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that pydantic makes of names, and without defaults: ours are of the loaded value."""
    return {key: entry for key, entry in value.items() if key not in ("title", "default", "discriminator")}


def _removable(value: dict[str, Any]) -> dict[str, Any]:
    """Also null, keeping the description where editors look for it."""
    kept = {key: entry for key, entry in value.items() if key in ("description", "examples")}
    rest = {key: entry for key, entry in value.items() if key not in kept}
    kinds = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
    return {**kept, "anyOf": [*(kind for kind in kinds if kind != {"type": "null"}), {"type": "null"}]}
