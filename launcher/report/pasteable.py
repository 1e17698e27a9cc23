"""A command line for pasting without a secret in it: where the caller's variable holds one, "$NAME" stands. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from launcher.secrets import MASK, SHORT, mask


def pasteable(
    words: Iterable[str],
    *,
    secrets: Iterable[str],
    secret_words: Iterable[int] = (),
    environ: Mapping[str, str],
) -> str:
    """`words` as `shlex.join` would have them, secrets apart. `secret_words` are positions that hold nothing else.

    A secret that no variable of the caller holds becomes ***: it has to be typed.
    """
    hidden = frozenset(secrets) - {MASK}
    names = {value: name for name, value in sorted(environ.items()) if value in hidden and name.isidentifier()}
    alone = frozenset(secret_words)
    return " ".join(_word(word, position in alone, hidden, names) for position, word in enumerate(words))


def _word(word: str, is_secret: bool, hidden: frozenset[str], names: Mapping[str, str]) -> str:
    option, equals, rest = word.partition("=")
    if is_secret and equals and option.startswith("--"):
        return f"{option}={_secret(rest, names)}"
    if is_secret or word in hidden:
        return _secret(word, names)
    for value in sorted(names, key=len, reverse=True):
        if len(value) >= SHORT and value in word:
            before, _, after = word.partition(value)
            pieces = (_word(piece, False, hidden, names) if piece else "" for piece in (before, after))
            return f'"${names[value]}"'.join(pieces)
    return _quoted(mask(word, hidden))


def _secret(value: str, names: Mapping[str, str]) -> str:
    return f'"${names[value]}"' if value in names else MASK


def _quoted(word: str) -> str:
    return word if word == MASK else shlex.quote(word)
