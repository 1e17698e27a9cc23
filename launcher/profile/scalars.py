"""What a plain YAML scalar means in a profile: true, false, null, a number that keeps its spelling, or text.

YAML 1.1 reads `on` as true, `010` as 8, `12:30:45` as 45045 and `1_000` as 1000 (hiyouga/LlamaFactory#4446); nobody who
writes a flag means that. Such spellings are refused with both readings offered. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


class Number(str):
    """A plain number as it is spelled in the profile: text in argv, a bare number inside JSON."""

    __slots__ = ()


Scalar = bool | str | None

_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
_NULL = ("null", "Null", "NULL")
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Ambiguous:
    """A spelling that YAML versions read differently: what it could be, and the two ways to say what is meant."""

    pattern: re.Pattern[str]
    reading: str
    offers: tuple[str, str]  # `{0}` is the scalar itself


_AMBIGUOUS = (
    Ambiguous(re.compile(r"(?i:on|yes|y)"), "text or true", ("true", '"{0}"')),
    Ambiguous(re.compile(r"(?i:off|no|n)"), "text or false", ("false", '"{0}"')),
    Ambiguous(re.compile(r"~"), "null or text", ("null", '"~"')),
    Ambiguous(re.compile(r""), "null or empty text", ("null", '""')),
    Ambiguous(re.compile(r"[-+]?0[0-9_]+(?:\.[0-9]*)?"), "octal, decimal or text", ("{1}", '"{0}"')),
    Ambiguous(re.compile(r"[-+]?0[oxbOXB][0-9a-fA-F_]+"), "a number or text", ("{1}", '"{0}"')),
    Ambiguous(re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?"), "a number or text", ("{1}", '"{0}"')),
    Ambiguous(re.compile(r"[-+]?\.(?i:inf|nan)"), "a number or text", ("a number", '"{0}"')),
    Ambiguous(re.compile(r"[-+]?[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"), "in base 60 or text", ("{1}", '"{0}"')),
    Ambiguous(re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?"), "a date or text", ("{1}", '"{0}"')),
)


def read_plain(text: str) -> Scalar | Ambiguous:
    """The value of an unquoted scalar, or why it is refused."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _NULL:
        return None
    for case in _AMBIGUOUS:
        if case.pattern.fullmatch(text):
            return case
    return Number(text) if _NUMBER.fullmatch(text) else text


def offers(case: Ambiguous, text: str) -> str:
    """Both spellings, as the end of a sentence: `write true or "yes"`."""
    return "write " + " or ".join(dict.fromkeys(offer.format(text, _unambiguous(text)) for offer in case.offers))


def _unambiguous(text: str) -> str:
    """A plain number that says the same, where there is one."""
    digits = text.replace("_", "").lower()
    sign, body = ("-", digits[1:]) if digits.startswith("-") else ("", digits.lstrip("+"))
    base = {"0x": 16, "0o": 8, "0b": 2}.get(body[:2])
    try:
        if base:
            return f"{sign}{int(body[2:], base)}"
        if ":" in body or "-" in body:
            return "a plain number"
        return f"{sign}{body.lstrip('0') or '0'}" if "." not in body else f"{sign}{float(body)}"
    except ValueError:
        return "a plain number"
