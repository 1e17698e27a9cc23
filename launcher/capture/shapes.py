"""Masks what has the shape of a secret: options, assignments, known key formats, URLs. Pure.

Nobody told us these values (`masker` knows those), so a rule must not eat ordinary words: `sk-learn`, `hf_transfer`,
`eos_token='</s>'`. Engines print such values: vllm-project/vllm#52523 (`'api_key': '...'`), #53625 (`hf_token`).

Speed: each rule is asked only where its words occur (`needles`), and only lines in which they stand where a secret
may follow are looked at closely. An access log has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from launcher.needles import Needles
from launcher.secrets import MASK, is_secret_name

_MASK = MASK.encode()
_COLOUR = rb"(?:\x1b\[[0-9;]*m)*"

# What a line must hold to be looked at, and how that must go on or what must stand before it.
_NAME = re.compile(
    rb"[_?&\"'-]?(?:key|oken|ecret|p?assw(?:or)?d|pass|redentials?)(?:[_-][\w-]{0,60})?(?:\\*[\"'])?"
    + _COLOUR
    + rb"(?:\s?[:=]|,\s|\s)",
    re.IGNORECASE,
)
_LONG_KEY = re.compile(rb"(?:sk-|hf_|nvapi-|ghp_|gsk_)[A-Za-z0-9_-]{10}")
_USER = re.compile(rb"@")
_SCHEME = re.compile(rb"B(?:earer|asic) ")
_TRIGGERS = {
    # Without a first letter, as one search costs less than two; "pass" alone is an ordinary word.
    **dict.fromkeys(b"key Key KEY oken OKEN ecret ECRET redential REDENTIAL assw ASSW".split(), _NAME),
    **dict.fromkeys(b"_pass _PASS -pass 'pass' \"pass\" ?pass= &pass=".split(), _NAME),
    **dict.fromkeys((b"sk-", b"hf_", b"nvapi-", b"ghp_", b"gsk_"), _LONG_KEY),
    **dict.fromkeys((b"Bearer ", b"Basic "), _SCHEME),
    b"@": _USER,
}
_NEEDLES = Needles(_TRIGGERS)

_URL_USER = re.compile(rb"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/@\s'\"]+@")
_BEARER = re.compile(rb"\b((?P<header>(?i:authorization)\W{1,4})?(?:Bearer|Basic) )(?P<value>[A-Za-z0-9._~+/=-]{8,})")
_WORDS = re.compile(rb"[A-Z]?[a-z]+(?:[./-][A-Z]?[a-z]+)*[.=-]?")  # "Basic settings", unless a header says it
_KEY = re.compile(rb"(?<![A-Za-z0-9_-])(sk-|hf_|nvapi-|ghp_|gsk_)([A-Za-z0-9_-]{10,})")
_NAMED = re.compile(
    rb"(?:(?P<option>(?<![\w-])--)|(?<![A-Za-z0-9_.-]))(?P<name>[A-Za-z][A-Za-z0-9_-]{2,60})"
    rb"(?P<between>(?:\\*[\"'])?" + _COLOUR + rb"(?:\s?[:=]\s?|,\s|\s)" + _COLOUR + rb")"
    rb"(?P<value>(?P<quote>\\*[\"'])(?P<quoted>(?:(?!(?P=quote)).){0,2048})(?P=quote)"
    rb"|\[(?=\s{0,4}\\*[\"'])(?P<listed>[^\]]{0,2048})\]|[^\s\"',;)\]}\x1b]+)"
)
_NO_SECRET = re.compile(rb"(?i)(?:none|null|true|false|[-+0-9.e_]*|\*\*\*|[<\[{(].*|.*\(.*)$")
# What a model's tokenizer, a cache or a program calls a token or a key.
_ORDINARY = re.compile(
    rb"(?i)^(?:key|.*(?:bos|eos|pad|unk|mask|cls|sep|image|audio|video|start|begin|end|first|next|last|stop|special|tool"
    rb"|think|per|new|prompt|max|num|cache|sort|primary|foreign|group|dict|state|layer|param|block|hash|bucket|index"
    rb"|config|weight|module|query|value|kv|public|lookup|row|map|routing|partition)[_-]?(?:key|token))$"
)
_PROSE = frozenset(
    b"to is or and option argument flag value was must for in with not has can should if when as on of are be will "
    b"parameter header environment required instead you your the a an from by at set only also but which that".split()
)


def mask_shapes(data: bytes) -> bytes:
    """The data with every secret shape replaced by ***; the same object where there is none."""
    spans = suspicious_lines(data)
    if not spans:
        return data
    parts, end = [], 0
    for begin, stop in spans:
        parts += [data[end:begin], mask_line(data[begin:stop])]
        end = stop
    return b"".join((*parts, data[end:]))


def suspicious_lines(data: bytes) -> list[tuple[int, int]]:
    """Where the lines lie in which a trigger occurs, ascending."""
    found: set[tuple[int, int]] = set()
    for needle in _NEEDLES.occurring(data):
        found.update(_lines_with(data, needle, _TRIGGERS[needle]))
    return sorted(found)


def _lines_with(data: bytes, needle: bytes, trigger: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    at = data.find(needle)
    while at >= 0:
        if trigger.match(data, at):
            begin = data.rfind(b"\n", 0, at) + 1
            end = data.find(b"\n", at)
            at = len(data) if end < 0 else end
            yield begin, at
        at = data.find(needle, at + 1)


def mask_line(line: bytes) -> bytes:
    """One line with its secret shapes masked."""
    line = _URL_USER.sub(rb"\1" + _MASK + b"@", line) if b"@" in line else line
    line = _BEARER.sub(_bearer, line) if b"B" in line else line
    line = _KEY.sub(_key, line) if _LONG_KEY.search(line) else line
    return _named(line) if _NAME.search(line) else line


def _bearer(match: re.Match[bytes]) -> bytes:
    is_prose = not match["header"] and _WORDS.fullmatch(match["value"])
    return match[0] if is_prose else match[1] + _MASK


def _key(match: re.Match[bytes]) -> bytes:
    return _MASK if _looks_random(match[1], match[2]) else match[0]


def _looks_random(prefix: bytes, rest: bytes) -> bool:
    """True unless it may be made of words: a run of letters and digits together, or a long or mixed one."""
    if prefix == b"sk-" and re.match(rb"[0-9]{10,}(?![A-Za-z0-9_-])", rest):
        return True
    for run in re.findall(rb"[A-Za-z0-9]{10,}", rest):
        digits, lower, upper = (re.search(kind, run) is not None for kind in (rb"[0-9]", rb"[a-z]", rb"[A-Z]"))
        if len(run) >= 24 or (digits and (lower or upper)) or (len(run) >= 16 and lower and upper):
            return True
    return False


def _named(line: bytes) -> bytes:
    """Values of options and assignments whose name is a secret's. A pair may begin inside of what was none."""
    parts, end, at = [], 0, 0
    while match := _NAMED.search(line, at):
        if not _is_secret(match):
            at = match.end("name")
            continue
        begin, stop = match.span("listed" if match["listed"] else "quoted" if match["quote"] else "value")
        parts += [line[end:begin], _MASK]
        end = at = stop
    return b"".join((*parts, line[end:])) if parts else line


def _is_secret(match: re.Match[bytes]) -> bool:
    name, between = match["name"].replace(b"-", b"_"), re.sub(_COLOUR, b"", match["between"])
    assigned = b"=" in between or b":" in between
    quoted = match["listed"] or (match["quoted"] if match["quote"] else None)
    value = match["value"] if quoted is None else quoted
    if not is_secret_name(name.decode("ascii")) or (not assigned and not match["option"]):
        return False
    if not value or _NO_SECRET.match(value):
        return False
    if not assigned and quoted is None and (value.lower() in _PROSE or value.upper() == name.upper()):
        return False
    if match["option"] or name.isupper():
        return True
    if _ORDINARY.match(name):
        return False
    # A bare word before a colon or an equals sign is prose more often than a name: "token: the", "secret=yes".
    return quoted is not None or b"_" in name or len(value) >= 8
