"""What of a plan must never be printed: by a variable's or option's name, by expansion, by a URL's user part. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from launcher.model import Change
from launcher.profile.asked import Asked
from launcher.secrets import is_secret_name, url_users


def secret_values(asked: Asked, changes: Iterable[Change], argv: tuple[str, ...]) -> frozenset[str]:
    """Every value that is masked wherever it occurs."""
    found = set(asked.secrets)
    for change in changes:
        if change.secret and change.value:
            users = url_users(change.value)
            found.update(users if users and not is_secret_name(change.name) else (change.value,))
    found.update(_below(asked.profile.args, secret=False))
    for position in secret_positions(argv):
        token = argv[position]
        found.add(token.partition("=")[2] if token.startswith("--") else token)
    return frozenset(value for value in found if value)


def secret_positions(argv: tuple[str, ...]) -> frozenset[int]:
    """Where secrets stand in an argv: every value after `--api-key` and the like, and `--api-key=value` tokens."""
    found, follows = set(), False
    for position, token in enumerate(argv):
        if not token.startswith("--"):
            if follows:
                found.add(position)
            continue
        name, equals, _ = token.partition("=")
        follows = is_secret_name(name) and not equals
        if is_secret_name(name) and equals:
            found.add(position)
    return frozenset(found)


def _below(value: Any, *, secret: bool) -> Iterator[str]:
    """Texts below a key with a secret's name, however deep: a mapping becomes JSON in one token."""
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from _below(entry, secret=secret or is_secret_name(str(name)))
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _below(entry, secret=secret)
    elif secret and isinstance(value, str):
        yield value
