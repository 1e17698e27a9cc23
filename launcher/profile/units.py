"""Durations and sizes with their units. Pure."""

from __future__ import annotations

import re

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {
    "B": 1,
    "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip
# Twelve digits are enough for anything here, and float() and int() stay finite.
_QUANTITY = re.compile(r"(?P<number>[0-9]{1,12}(?:\.[0-9]{1,6})?) ?(?P<unit>[A-Za-z]+)")
_BARE = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


class NoQuantity(ValueError):
    """Not a duration or size; `fix` says what to write."""

    def __init__(self, what: str, fix: str) -> None:
        self.what, self.fix = what, fix


def seconds(text: str) -> float:
    """`60s`, `500ms`, `1h30m` to seconds; `0` needs no unit. Raises NoQuantity."""
    if text == "0":
        return 0.0
    parts = list(_QUANTITY.finditer(text))
    if not parts or "".join(part[0] for part in parts) != text or any(part["unit"] not in _SECONDS for part in parts):
        raise _none("a duration", text, "s", "ms, s, m, h, d", "500ms, 60s, 5m or 1h30m")
    return sum(float(part["number"]) * _SECONDS[part["unit"]] for part in parts)


def size(text: str) -> int:
    """`64MiB`, `1GB` to bytes; `0` needs no unit. Raises NoQuantity."""
    if text == "0":
        return 0
    part = _QUANTITY.fullmatch(text)
    if part is None or part["unit"] not in _BYTES:
        raise _none("a size", text, "MiB", "B, kB, MB, GB, KiB, MiB, GiB", "64MiB or 1GB")
    return int(float(part["number"]) * _BYTES[part["unit"]])


def _none(kind: str, text: str, unit: str, units: str, examples: str) -> NoQuantity:
    if _BARE.fullmatch(text):
        return NoQuantity(f"{text} has no unit", f"Write {text}{unit}, or with another of the units {units}.")
    return NoQuantity(f"this is no {kind.partition(' ')[2]}", f"Write {kind} such as {examples}.")
