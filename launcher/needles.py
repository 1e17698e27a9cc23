"""Finds out cheaply that none of some fixed texts occurs in a large one. Pure.

A search for one character that is not there reads tens of gigabytes a second, and ends at once where it is; one for a
text of several reads a few hundred megabytes. So first it is asked which characters are there at all, those first that
most of the texts need: a text that lacks one is not searched for. Most output of a server lacks some of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import AnyStr, Generic

_SMALL = 4 << 10  # characters that are searched through at once
_SELDOM = 3  # occurrences of a character in so many, up to which it may be rare in all of them
_FEW = 200  # occurrences of a character up to which looking at each is cheaper than a search for the text
# English text, the most frequent first; everything else is rarer.
_FREQUENT = " etaoinsrhldcumfpgwybvk,.-_01234567895xjqz"


class Needles(Generic[AnyStr]):
    """Texts to be searched for, all of bytes or all of characters."""

    def __init__(self, texts: Iterable[AnyStr]) -> None:
        self._texts: tuple[AnyStr, ...] = tuple(texts)
        self._rarest: tuple[AnyStr, ...] = tuple(
            min(_characters(text), key=_frequency, default=text) for text in self._texts
        )
        # Bit N stands for the text N.
        self._needing: tuple[tuple[AnyStr, int], ...] = tuple(
            (character, self._those_with(character)) for character in _in_order(self._texts)
        )

    def occurring(self, data: AnyStr) -> tuple[AnyStr, ...]:
        """Those of the texts that occur in the data, in the order in which they were given."""
        if len(data) < _SMALL:
            return tuple(text for text in self._texts if text in data)
        possible = (1 << len(self._texts)) - 1
        for character, needing in self._needing:
            if possible & needing and character not in data:
                possible &= ~needing
                if not possible:
                    return ()
        numbered = zip(self._texts, self._rarest, strict=True)
        return tuple(
            text for at, (text, rarest) in enumerate(numbered) if possible >> at & 1 and _occurs(text, rarest, data)
        )

    def _those_with(self, character: AnyStr) -> int:
        return sum(1 << at for at, text in enumerate(self._texts) if character in text)


def _occurs(text: AnyStr, rarest: AnyStr, data: AnyStr) -> bool:
    """`text in data`, by way of one of its characters while that is rare here, too."""
    if data.count(rarest, 0, _SMALL) > _SELDOM:
        return text in data
    before = text.index(rarest)
    at = data.find(rarest)
    for _ in range(_FEW):
        if at < 0:
            return False
        if at >= before and data.startswith(text, at - before):
            return True
        at = data.find(rarest, at + 1)
    return text in data


def _in_order(texts: Sequence[AnyStr]) -> Iterator[AnyStr]:
    """All their characters, so that a few of the first rule out every text; rare ones before frequent ones."""
    left = list(texts)
    every = set().union(*map(_characters, texts))
    while every:
        needed = Counter(character for text in left or texts for character in _characters(text) & every)
        best = max(every, key=lambda character: (needed[character], _frequency(character)))
        yield best
        every.remove(best)
        left = [text for text in left if best not in text]


def _characters(text: AnyStr) -> set[AnyStr]:
    return {text[at : at + 1] for at in range(len(text))}


def _frequency(character: str | bytes) -> tuple[int, str | bytes]:
    named = character if isinstance(character, str) else character.decode("latin-1")
    return (-_FREQUENT.find(named) if named in _FREQUENT else -len(_FREQUENT), character)
