"""Durations and sizes with their units. Pure."""

from __future__ import annotations

import re

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_QUANTITY = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<unit>[A-Za-z]+)")


def seconds(text: str) -> float:
    """`60s`, `20m`, `1h30m` to seconds; `0` needs no unit. Raises ValueError with what to write."""
    if text == "0":
        return 0.0
    parts = list(_QUANTITY.finditer(text))
    if not parts or "".join(part[0] for part in parts) != text or any(part["unit"] not in _SECONDS for part in parts):
        raise ValueError(f"{text!r} is no duration; write it with a unit: {_suggested(text, 's')}, 5m, 1h")
    return sum(float(part["number"]) * _SECONDS[part["unit"]] for part in parts)


def size(text: str) -> int:
    """`64MiB`, `1GB` to bytes; `0` needs no unit. Raises ValueError with what to write."""
    if text == "0":
        return 0
    part = _QUANTITY.fullmatch(text)
    if part is None or part["unit"] not in _BYTES:
        raise ValueError(f"{text!r} is no size; write it with a unit: {_suggested(text, 'MiB')}, 1GiB")
    return int(float(part["number"]) * _BYTES[part["unit"]])


def _suggested(text: str, unit: str) -> str:
    return f"{text}{unit}" if text.isdigit() else f"60{unit}"
