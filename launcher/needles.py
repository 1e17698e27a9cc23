"""Finds out cheaply that none of some fixed texts occurs in a large one. Pure.

A search for one character that is not there reads tens of gigabytes a second, one for a text of several a few hundred
megabytes: so a text is searched for only where all of its characters occur. Most output of a server lacks some.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import AnyStr, Generic

_SMALL = 4 << 10  # characters that are searched through at once
# English text, the most frequent first; everything else is rarer.
_FREQUENT = " etaoinsrhldcumfpgwybvk,.-_01234567895xjqz"


class Needles(Generic[AnyStr]):
    """Texts to be searched for, all of bytes or all of characters."""

    def __init__(self, texts: Iterable[AnyStr]) -> None:
        self._needles: tuple[tuple[AnyStr, tuple[AnyStr, ...]], ...] = tuple(
            (text, _rarest_first(text)) for text in texts
        )

    def occurring(self, data: AnyStr) -> tuple[AnyStr, ...]:
        """Those of the texts that occur in the data, in the order in which they were given."""
        if len(data) < _SMALL:
            return tuple(text for text, _ in self._needles if text in data)
        missing: set[AnyStr] = set()
        found = []
        for text, characters in self._needles:
            if not missing.isdisjoint(characters):
                continue
            absent = next((character for character in characters if character not in data), None)
            if absent is not None:
                missing.add(absent)
            elif text in data:
                found.append(text)
        return tuple(found)


def _rarest_first(text: AnyStr) -> tuple[AnyStr, ...]:
    single = {text[at : at + 1] for at in range(len(text))}
    return tuple(sorted(single, key=_frequency))


def _frequency(character: str | bytes) -> tuple[int, str | bytes]:
    named = character if isinstance(character, str) else character.decode("latin-1")
    return (-_FREQUENT.find(named) if named in _FREQUENT else -len(_FREQUENT), character)
