"""Shared libraries of the smallest kind: a dynamic section that names what it needs, and nothing that could be run."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

_BASE = 0x400000  # where it would be loaded: no offset in the file


def library(needs: Sequence[str]) -> bytes:
    """An ELF file whose dynamic section needs these sonames."""
    strings, offsets = b"\0", []
    for name in needs:
        offsets.append(len(strings))
        strings += name.encode() + b"\0"
    start = 64 + 2 * 56
    entries = [(1, offset) for offset in offsets] + [(5, _BASE + start), (10, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", tag, value) for tag, value in entries)
    whole = start + len(strings) + len(dynamic)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    loaded = struct.pack("<IIQQQQQQ", 1, 4, 0, _BASE, _BASE, whole, whole, 4096)
    at = start + len(strings)
    section = struct.pack("<IIQQQQQQ", 2, 4, at, _BASE + at, _BASE + at, len(dynamic), len(dynamic), 8)
    return head + loaded + section + strings + dynamic


def write(path: Path, needs: Sequence[str] = ()) -> Path:
    """The same as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(library(needs))
    return path
