"""An empty shared library with a soname, written without a compiler: enough for `-lNAME` when a library is linked.

The linker reads sections, not segments: a dynamic symbol table with its null symbol, its strings, and a dynamic section
with the soname (System V ABI, "Dynamic Linking"). Pure.
"""

from __future__ import annotations

import struct

# e_machine by platform.machine(); the gABI's numbers.
_MACHINES = {"x86_64": 62, "aarch64": 183}

_HEADER, _SECTION, _SEGMENT, _SYMBOL, _DYNAMIC = 64, 64, 56, 24, 16  # sizes of ELF64 records in bytes
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_SONAME = 0, 4, 5, 6, 10, 11, 14
_SHT_PROGBITS, _SHT_STRTAB, _SHT_HASH, _SHT_DYNAMIC, _SHT_DYNSYM = 1, 3, 5, 6, 11
_PAGE = 0x10000  # the largest page size of both machines


def shared_library(soname: str, machine: str) -> bytes:
    """The bytes of an ELF64 little-endian shared object. Raises KeyError for a machine without a number here."""
    strings = b"\0" + soname.encode() + b"\0"
    names = b"\0.dynsym\0.dynstr\0.hash\0.dynamic\0.shstrtab\0"
    segments = 2
    dynsym_at = _HEADER + segments * _SEGMENT
    dynstr_at = dynsym_at + _SYMBOL
    hash_at = _aligned(dynstr_at + len(strings))
    # One bucket, one chain entry, both empty: the null symbol is the only one.
    hash_table = struct.pack("<IIII", 1, 1, 0, 0)
    dynamic_at = _aligned(hash_at + len(hash_table))
    dynamic = b"".join(
        struct.pack("<qQ", tag, value)
        for tag, value in (
            (_DT_SONAME, 1),
            (_DT_HASH, hash_at),
            (_DT_STRTAB, dynstr_at),
            (_DT_SYMTAB, dynsym_at),
            (_DT_STRSZ, len(strings)),
            (_DT_SYMENT, _SYMBOL),
            (_DT_NULL, 0),
        )
    )
    names_at = dynamic_at + len(dynamic)
    sections_at = _aligned(names_at + len(names))
    sections = (
        bytes(_SECTION),
        _section(names, b".dynsym", _SHT_DYNSYM, dynsym_at, _SYMBOL, link=2, info=1, entry=_SYMBOL),
        _section(names, b".dynstr", _SHT_STRTAB, dynstr_at, len(strings)),
        _section(names, b".hash", _SHT_HASH, hash_at, len(hash_table), link=1, entry=4),
        _section(names, b".dynamic", _SHT_DYNAMIC, dynamic_at, len(dynamic), link=2, entry=_DYNAMIC),
        _section(names, b".shstrtab", _SHT_STRTAB, names_at, len(names), allocated=False),
    )
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        3,  # ET_DYN
        _MACHINES[machine],
        1,
        0,
        _HEADER,
        sections_at,
        0,
        _HEADER,
        _SEGMENT,
        segments,
        _SECTION,
        len(sections),
        len(sections) - 1,
    )
    load = struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, names_at, names_at, _PAGE)
    dynamic_segment = struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)
    body = bytearray(sections_at)
    for at, piece in (
        (0, header + load + dynamic_segment),
        (dynstr_at, strings),
        (hash_at, hash_table),
        (dynamic_at, dynamic),
        (names_at, names),
    ):
        body[at : at + len(piece)] = piece
    return bytes(body) + b"".join(sections)


def _section(
    names: bytes,
    name: bytes,
    kind: int,
    at: int,
    size: int,
    *,
    link: int = 0,
    info: int = 0,
    entry: int = 0,
    allocated: bool = True,
) -> bytes:
    flags, address = (2, at) if allocated else (0, 0)
    return struct.pack("<IIQQQQIIQQ", names.index(name), kind, flags, address, at, size, link, info, 8, entry)


def _aligned(at: int) -> int:
    return (at + 7) // 8 * 8
