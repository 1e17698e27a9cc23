"""Collapses progress: of each bar the first state, every tenth per cent and the last are kept. Pure.

tqdm writes over its line also where that is a pipe; vLLM and transformers write one line per shard or parameter, once
per rank (vllm-project/vllm#6569, huggingface/transformers#44345).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from launcher.capture.pieces import Piece

TRIGGER = re.compile(rb"%(?<=[0-9]%)(?: Completed)? ?\|")  # what every bar has
_BARS = 64  # that are followed at once
_SHORT = 120  # characters of the short text

_BAR = re.compile(
    r"^(?P<label>.*?)[\s:]*\b(?P<percent>\d{1,3})%(?: Completed)? ?\|(?:[^|]*\|)?"
    r"(?:\s*(?P<done>[\d.]+[kKMGTP]?i?B?)/(?P<total>[\d.]+[kKMGTP]?i?B?))?"
)
_NUMBERS = re.compile(r"(?<!pid)=\s*[\d.]+(?:\s*[kKMGT]i?B)?")


@dataclass
class _Bar:
    percent: int
    held: bytes | None = None  # the latest state, where it is not kept yet


class Progress:
    """Give it pieces, get the lines that are kept. Several bars may take turns."""

    def __init__(self) -> None:
        self._bars: dict[str, _Bar] = {}
        self._passing: bytes | None = None  # the latest of several overwritten texts that are no bar
        self._latest: str | None = None

    @property
    def latest(self) -> str | None:
        """The latest state of any bar in short: "Loading shards 37/61 (61 %)"."""
        return self._latest

    @property
    def holds(self) -> bool:
        """True while there is a state that is not kept yet."""
        return self._passing is not None or any(bar.held is not None for bar in self._bars.values())

    def feed(self, piece: Piece) -> Iterator[bytes]:
        """The lines to keep now."""
        text = piece.text.decode("utf-8", "replace")
        match = _BAR.match(text) if "%" in text else None
        if match and int(match["percent"]) <= 100:
            self._passing = None
            yield from self._bar(match, piece.text)
        elif not piece.overwritten:
            if piece.text or self._passing is None:
                yield piece.text
            else:
                yield self._passing
            self._passing = None
        elif piece.text.strip():
            if self._passing is None:
                yield piece.text
            self._passing = piece.text

    def settle(self) -> Iterator[bytes]:
        """The latest states, when nothing more comes for a while."""
        for bar in self._bars.values():
            if bar.held is not None:
                yield bar.held
                bar.held = None
        if self._passing is not None:
            yield self._passing
            self._passing = b""

    def _bar(self, match: re.Match[str], line: bytes) -> Iterator[bytes]:
        percent, key = int(match["percent"]), _NUMBERS.sub("=#", match["label"])
        self._latest = _short(match)
        bar = self._bars.pop(key, None)
        if bar is not None and percent < bar.percent:  # it begins anew
            if bar.held is not None:
                yield bar.held
            bar = None
        keep = bar is None or percent // 10 > bar.percent // 10
        self._bars[key] = _Bar(percent, None if keep else line)
        if keep:
            yield line
        if len(self._bars) > _BARS:
            oldest = self._bars.pop(next(iter(self._bars)))
            if oldest.held is not None:
                yield oldest.held


def _short(match: re.Match[str]) -> str:
    label = match["label"].strip(" :\t")[-_SHORT:]
    counted = f" {match['done']}/{match['total']}" if match["done"] else ""
    return f"{label}{counted} ({match['percent']} %)".strip()
