"""Makes one line of a server's output safe to keep in a text file: no escape sequences, no NUL, valid UTF-8. Pure."""

from __future__ import annotations

import re

# ECMA-48: CSI, then the strings OSC (titles, hyperlinks), DCS, SOS, PM and APC with their ends, then charset and
# other two-byte sequences. A string without an end takes the rest of the line, for nobody could read it.
_ESCAPES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)"
    rb"|\x1b[ -/]*[0-Z\\^-~]|\x1b"
)
# What moves a cursor, rings or ends a line for some readers; searched for one by one, which is faster than a pattern.
_ODD = tuple(bytes([byte]) for byte in b"\x00\x07\x08\x0b\x0c\r\x0e\x0f\x1b")
_CONTROLS = re.compile(r"[\x00\x07\x08\x0b-\x0f\x1b\x80-\x9f]")


def plain(line: bytes) -> bytes:
    """The line without escape sequences; control characters and bytes that are no UTF-8 as \\xNN. Tabs stay."""
    if b"\x1b" in line:
        line = _ESCAPES.sub(b"", line)
    if is_plain(line):
        return line
    text = line.decode("utf-8", "backslashreplace")
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text).encode()


def is_plain(data: bytes) -> bool:
    """True for data that `plain` would leave as it is, line feeds apart. Fast for ASCII."""
    if any(byte in data for byte in _ODD):
        return False
    return data.isascii() or _is_utf8(data)


def _is_utf8(data: bytes) -> bool:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not _CONTROLS.search(text)
