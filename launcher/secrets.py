"""What is a secret, and how it is kept out of everything that is printed or written. Pure.

The rule for names is the contract's: a `_`-word that is PASS or ends in TOKEN, SECRET, PASSWORD, PASSWD, APIKEY,
CREDENTIAL(S), or a name that ends in KEY; options likewise (`--api-key`, `--hf-token`). The user part of a URL is
one too. Values under 8 characters are masked at their own place only: replaced everywhere, they would eat the log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "***"
SHORT = 8  # characters

_WORD_ENDINGS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIAL", "CREDENTIALS")
# A scheme begins a word and is short: without that, a long run of letters would be looked at from each of them.
_USERINFO = re.compile(r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30}://)(?P<user>[^/@\s'\"]+)@")


def is_secret_name(name: str) -> bool:
    """True for the name of a variable, profile key or option whose value must not be shown."""
    words = name.upper().lstrip("-").replace("-", "_").split("_")
    if words[-1].endswith("KEY"):
        return True
    return any(word == "PASS" or word.endswith(_WORD_ENDINGS) for word in words)


def url_users(text: str) -> tuple[str, ...]:
    """The user parts (`user:password`) of URLs in a text."""
    return tuple(match["user"] for match in _USERINFO.finditer(text))


def mask_urls(text: str) -> str:
    """The text with the user part of each URL masked."""
    return _USERINFO.sub(lambda match: f"{match['scheme']}{MASK}@", text)


def long_enough(values: Iterable[str]) -> tuple[str, ...]:
    """What is masked wherever it occurs, longest first so that no part of one stays readable: the values without the
    blanks and line ends around them, which whoever uses them strips, and each of their lines, which may be indented.
    """
    texts = {part.strip() for value in values for part in (value, *value.splitlines())}
    return tuple(sorted({text for text in texts if len(text) >= SHORT}, key=lambda text: (-len(text), text)))


def mask(text: str, values: Iterable[str]) -> str:
    """The text with every secret value of at least 8 characters and every URL's user part masked."""
    for value in long_enough(values):
        text = text.replace(value, MASK)
    return mask_urls(text)
