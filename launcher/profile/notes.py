"""What is worth saying about a profile that can be used. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from launcher.profile.document import Document, dotted
from launcher.secrets import is_secret_name, url_users


def secrets_in_clear(document: Document) -> None:
    """A secret that stands in the file is one for everybody who reads the file. Call it before expansion."""
    env = document.tree.get("env")
    given = env.get("set") if isinstance(env, dict) else None
    sections = {"env.set": given, **{name: document.tree.get(name) for name in ("args", "command", "model")}}
    for section, value in sections.items():
        for key, name, text in _texts(value, section, section):
            if "${" in text or not text:
                continue
            if is_secret_name(name) or url_users(text):
                variable = name.upper().lstrip("-").replace("-", "_") if is_secret_name(name) else "NAME"
                fix = f'Write "${{{variable}}}" instead, and export {variable}.'
                document.warning("profile-clear-secret", key, "a secret stands in the file in clear", fix)


def _texts(value: Any, key: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Every text below a key, with its own key and the name that it goes by (an option before it counts)."""
    if isinstance(value, dict):
        for below, entry in value.items():
            yield from _texts(entry, dotted(key, below), below)
    elif isinstance(value, list):
        before = ""
        for index, entry in enumerate(value):
            is_option = isinstance(entry, str) and entry.startswith("-")
            option, equals, rest = entry.partition("=") if is_option else ("", "", "")
            if equals:
                yield dotted(key, index), option, rest
            elif not is_option:
                yield from _texts(entry, dotted(key, index), before or name)
            before = option if is_option and not equals else ""
    elif isinstance(value, str):
        yield key, name, value
