"""What a plain YAML scalar means in a profile: true, false, null, a number that keeps its spelling, or text.

YAML 1.1 reads `on` as true, `010` as 8, `12:30:45` as 45045 and `1_000` as 1000 (hiyouga/LlamaFactory#4446); nobody who
writes a flag means that, and YAML 1.2 reads each of them in another way. Such spellings are refused, with every
reading offered. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


class Number(str):
    """A plain number as it is spelled in the profile: text in argv, a bare number inside JSON."""

    __slots__ = ()


Scalar = bool | str | None

_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
_NULL = ("null", "Null", "NULL")
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Ambiguous:
    """A refused spelling: what it may be (the end of "it may be ..."), and every way to say what is meant."""

    text: str
    reading: str
    offers: tuple[str, ...]

    def offered(self) -> str:
        """`true or "yes"`."""
        return " or ".join(self.offers)


@dataclass(frozen=True)
class _Case:
    pattern: re.Pattern[str]
    reading: str
    plain: Callable[[str], tuple[str, ...]]  # the unquoted spellings to offer


def _numbers(text: str) -> tuple[str, ...]:
    """What `010`, `0x10`, `1_000` and the like are as plain numbers: octal first, as YAML 1.1 has it."""
    sign, body = ("-", text[1:]) if text.startswith("-") else ("", text.lstrip("+"))
    digits = body.replace("_", "")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2].lower())
    if base:
        return (f"{sign}{int(digits[2:], base)}",)
    decimal = f"{sign}{_bare(digits)}"
    if digits.isdigit() and len(digits) > 1 and digits.startswith("0") and not set(digits) & set("89"):
        return tuple(dict.fromkeys((f"{sign}{int(digits, 8)}", decimal)))
    return (decimal,)


def _bare(digits: str) -> str:
    """A decimal number without superfluous zeros in front, so that it is a plain one here."""
    stripped = digits.lstrip("0")
    return stripped if stripped[:1].isdigit() else f"0{stripped}"


def _base_60(text: str) -> tuple[str, ...]:
    sign, body = ("-", text[1:]) if text.startswith("-") else ("", text.lstrip("+"))
    whole, dot, fraction = body.replace("_", "").partition(".")
    total = 0
    for part in whole.split(":"):
        total = total * 60 + int(part)
    return (f"{sign}{total}{dot + fraction if fraction else ''}",)


def _constantly(*offers: str) -> Callable[[str], tuple[str, ...]]:
    return lambda text: offers


# The first that matches is taken.
_CASES = (
    _Case(re.compile(r"(?i:on|yes|y)"), "true or text", _constantly("true")),
    _Case(re.compile(r"(?i:off|no|n)"), "false or text", _constantly("false")),
    _Case(re.compile(r"~"), "null or text", _constantly("null")),
    _Case(re.compile(r""), "null or empty text", _constantly("null")),
    _Case(re.compile(r"[-+]?0[xX][0-9a-fA-F_]*[0-9a-fA-F][0-9a-fA-F_]*"), "a number or text", _numbers),
    _Case(re.compile(r"[-+]?0[oO][0-7_]*[0-7][0-7_]*"), "a number or text", _numbers),
    _Case(re.compile(r"[-+]?0[bB][01_]*[01][01_]*"), "a number or text", _numbers),
    _Case(re.compile(r"[-+]?0[0-9_]*[0-9][0-9_]*"), "an octal number, a decimal one or text", _numbers),
    _Case(re.compile(r"[-+]?0[0-9_]*[0-9][0-9_]*\.[0-9_]*"), "a number or text", _numbers),
    # Digits with an underscore anywhere, with or without a fraction and an exponent.
    _Case(re.compile(r"(?=.*_)[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?"), "a number or text", _numbers),
    _Case(re.compile(r"(?=.*_)[-+]?[0-9]?[0-9_]*\.?[0-9_]+[eE][-+]?[0-9_]+"), "a number or text", _constantly()),
    _Case(re.compile(r"[-+]?\.(?i:inf)"), "infinity or text", lambda text: (f"{text[:-4].lstrip('+')}inf",)),
    _Case(re.compile(r"\.(?i:nan)"), "not a number or text", _constantly("nan")),
    _Case(re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"), "a number in base 60 or text", _base_60),
    _Case(re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt\s].*)?"), "a date or text", _constantly()),
)


def read_plain(text: str) -> Scalar | Ambiguous:
    """The value of an unquoted scalar, or why it is refused."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _NULL:
        return None
    for case in _CASES:
        if case.pattern.fullmatch(text):
            return Ambiguous(text, case.reading, (*case.plain(text), f'"{text}"'))
    return Number(text) if _NUMBER.fullmatch(text) else text


def json_spelling(number: Number) -> str | None:
    """How JSON must spell a plain number (`.5` is none there); None where it is spelled right."""
    if _JSON_NUMBER.fullmatch(number):
        return None
    sign = "-" if number.startswith("-") else ""
    mantissa, exponent = re.fullmatch(r"[-+]?([0-9.]+)(.*)", number, re.DOTALL).groups()  # type: ignore[union-attr]
    whole, _, fraction = mantissa.partition(".")
    return f"{sign}{whole or '0'}{f'.{fraction}' if fraction else ''}{exponent}"
