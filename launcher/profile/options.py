"""`args`: the engine's own options, one spelling each, with values that survive as argv and as JSON. Pure.

Which options an engine knows is not decided here. Tokens are made by `launcher.engines.arguments`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from launcher.profile.document import REFUSED, Document, dotted, short
from launcher.profile.scalars import Number, json_spelling

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def to_kebab(document: Document) -> None:
    """Renames options of one file to their kebab form, so that parents and children mean the same by the same.

    Both engines' YAML takes kebab; people also write underscores, as in Python. What follows a dot is a key of JSON
    and keeps its underscores (`compilation-config.cudagraph_capture_sizes`).
    """
    options = document.tree.get("args")
    if not isinstance(options, dict):
        return
    renamed: dict[str, Any] = {}
    first: dict[str, str] = {}
    for name, value in options.items():
        kebab = _kebab(name)
        if kebab in first:
            line = document.where(f"args.{first[kebab]}").line
            what = f"it stands twice, here and on line {line} as {first[kebab]}"
            document.error("profile-duplicate-key", f"args.{name}", what, "Keep one of them.")
            continue
        first[kebab] = name
        renamed[kebab] = value
    document.tree["args"] = renamed
    spellings = {name: kebab for kebab, name in first.items()}
    document.lines = {_moved(key, spellings): place for key, place in document.lines.items()}


def _kebab(name: str) -> str:
    option, dot, rest = name.partition(".")
    return f"{option.replace('_', '-')}{dot}{rest}"


def _moved(key: str, spellings: Mapping[str, str]) -> str:
    """The key with its option in kebab. Names may hold dots, so every beginning may be one."""
    section, _, rest = key.partition(".")
    parts = rest.split(".") if section == "args" else []
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        if name in spellings:
            return ".".join(("args", spellings[name], *parts[count:]))
    return key


def judge(document: Document) -> None:
    """Everything that is wrong with names and values."""
    options = document.tree.get("args")
    for name, value in options.items() if isinstance(options, dict) else ():
        _judge_name(name, document)
        _judge_value(value, f"args.{name}", document)


def _judge_name(name: str, document: Document) -> None:
    key = f"args.{name}"
    bare = name.lstrip("-")
    if name == "config":
        # vLLM also takes --config=FILE apart by itself and misreads it (vllm-project/vllm#43252).
        what, fix = "it would read options behind the profile's back", "Write the options of that file here."
        document.error("profile-value", key, what, fix)
    elif name.startswith("-") and _NAME.fullmatch(bare):
        document.error("profile-value", key, "an option stands here without dashes in front", f"Write {bare}.")
    elif not _NAME.fullmatch(name):
        fix = "Write its long name, such as port, and its value after the colon."
        document.error("profile-value", key, "it is no option", fix)


def _judge_value(value: Any, key: str, document: Document) -> None:
    if isinstance(value, dict):
        for name, entry in value.items():
            _judge_json(entry, dotted(key, name), document)
    elif isinstance(value, list):
        if not value:
            document.error("profile-value", key, "the list is empty", "Leave the key out, or write its values.")
        for index, entry in enumerate(value):
            _judge_entry(entry, dotted(key, index), document)


def _judge_entry(value: Any, key: str, document: Document) -> None:
    """A list's entries are tokens of their own; mappings and lists in it are JSON."""
    if value is None:
        document.error("profile-value", key, "null is no value of an option", "Leave it out.")
    elif isinstance(value, (dict, list)):
        _judge_json(value, key, document)


def _judge_json(value: Any, key: str, document: Document) -> None:
    """Inside a mapping, numbers must be numbers to JSON too."""
    if isinstance(value, dict):
        for name, entry in value.items():
            _judge_json(entry, dotted(key, name), document)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            _judge_json(entry, dotted(key, index), document)
    elif value is not REFUSED and isinstance(value, Number):
        spelling = json_spelling(value)
        if spelling is not None:
            what = f"{short(value)} is no number in JSON, which this mapping becomes"
            document.error("profile-value", key, what, f'Write {short(spelling)} or "{short(value)}".')
