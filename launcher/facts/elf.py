"""Which shared libraries a file needs, by its own dynamic section: nothing is loaded. 64-bit, little-endian ELF."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_LOAD, _DYNAMIC = 1, 2  # program headers (System V ABI)
_END, _NEEDED, _STRINGS = 0, 1, 5  # entries of the dynamic section
_LONGEST = 256  # bytes of a name
_MOST = 1 << 20  # bytes of a dynamic section: more is no library


def needed(path: Path) -> tuple[str, ...]:
    """The sonames in their order; empty for a file that cannot be read or is none of these."""
    try:
        with path.open("rb") as file:
            return _needed(file)
    except (OSError, struct.error, ValueError, OverflowError):
        return ()


def _needed(file: BinaryIO) -> tuple[str, ...]:
    head = file.read(64)
    if head[:6] != b"\x7fELF\x02\x01":
        return ()
    (headers,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    loaded: list[tuple[int, int, int]] = []
    dynamic = b""
    for number in range(count):
        file.seek(headers + number * size)
        kind, _, offset, address, _, length = struct.unpack("<IIQQQQ", file.read(40))
        if kind == _LOAD:
            loaded.append((address, offset, length))
        elif kind == _DYNAMIC:
            file.seek(offset)
            dynamic = file.read(min(length, _MOST))
    entries = _entries(dynamic)
    tables = [value for tag, value in entries if tag == _STRINGS]
    if not tables:
        return ()
    strings = _in_file(tables[0], loaded)
    return tuple(_name(file, strings + value) for tag, value in entries if tag == _NEEDED)


def _entries(dynamic: bytes) -> list[tuple[int, int]]:
    found = []
    for tag, value in struct.iter_unpack("<qQ", dynamic[: len(dynamic) // 16 * 16]):
        if tag == _END:
            break
        found.append((tag, value))
    return found


def _in_file(address: int, loaded: list[tuple[int, int, int]]) -> int:
    """Where in the file the byte lies that will be loaded at an address. Raises ValueError for none."""
    for start, offset, length in loaded:
        if start <= address < start + length:
            return offset + address - start
    raise ValueError(address)


def _name(file: BinaryIO, offset: int) -> str:
    file.seek(offset)
    return file.read(_LONGEST).split(b"\0", 1)[0].decode("utf-8", "replace")
