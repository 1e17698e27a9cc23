"""Prometheus' text format, as far as we need it: the sum of a metric's samples over all its labels. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

# A name, perhaps labels (whose values may hold any character, quotes escaped), a value, perhaps a time.
_SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?[ \t]+(\S+)')


def sums(text: str, names: Iterable[str]) -> dict[str, float]:
    """The sum for each of these metrics that the text has; several engines, ranks or models count together."""
    wanted, found = frozenset(names), dict[str, float]()
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match is None or match[1] not in wanted:
            continue
        try:
            value = float(match[2])
        except ValueError:
            continue
        if math.isfinite(value):
            found[match[1]] = found.get(match[1], 0.0) + value
    return found
