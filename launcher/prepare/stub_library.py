"""A shared library with a soname and names of functions, written without a compiler: enough to link with `-lNAME`.

Like the stubs in a CUDA toolkit it must not be run. The names matter: with `--as-needed`, Ubuntu's default, a linker
forgets a library that defines nothing that is asked for, and the result then lacks the driver at run time. The linker
reads sections: dynamic symbols, their strings, and a dynamic section with the soname (System V ABI). Pure.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

# e_machine by platform.machine(); the gABI's numbers.
MACHINES = {"x86_64": 62, "aarch64": 183}

_HEADER, _SECTION, _SEGMENT, _SYMBOL, _DYNAMIC = 64, 64, 56, 24, 16  # sizes of ELF64 records in bytes
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_SONAME = 0, 4, 5, 6, 10, 11, 14
_SHT_PROGBITS, _SHT_STRTAB, _SHT_HASH, _SHT_DYNAMIC, _SHT_DYNSYM = 1, 3, 5, 6, 11
_PAGE = 0x10000  # the largest page size of both machines


def shared_library(soname: str, machine: str, functions: Sequence[str] = ()) -> bytes:
    """The bytes of an ELF64 little-endian shared object. Raises KeyError for a machine without a number here."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in (soname, *functions))
    symbols = len(functions) + 1  # the first one is the null symbol
    names = b"\0.dynsym\0.dynstr\0.hash\0.dynamic\0.shstrtab\0"
    segments = 2
    dynsym_at = _HEADER + segments * _SEGMENT
    dynstr_at = dynsym_at + symbols * _SYMBOL
    hash_at = _aligned(dynstr_at + len(strings))
    # One bucket whose chain goes through all symbols.
    chain = [*range(2, symbols), 0] if functions else []
    hash_table = struct.pack(f"<{symbols + 3}I", 1, symbols, int(bool(functions)), 0, *chain)
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
        _section(names, b".dynsym", _SHT_DYNSYM, dynsym_at, symbols * _SYMBOL, link=2, info=1, entry=_SYMBOL),
        _section(names, b".dynstr", _SHT_STRTAB, dynstr_at, len(strings)),
        _section(names, b".hash", _SHT_HASH, hash_at, len(hash_table), link=1, entry=4),
        _section(names, b".dynamic", _SHT_DYNAMIC, dynamic_at, len(dynamic), link=2, entry=_DYNAMIC),
        _section(names, b".shstrtab", _SHT_STRTAB, names_at, len(names), allocated=False),
    )
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        3,  # ET_DYN
        MACHINES[machine],
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
        (dynsym_at + _SYMBOL, _symbols(strings, functions, hash_at)),
        (dynstr_at, strings),
        (hash_at, hash_table),
        (dynamic_at, dynamic),
        (names_at, names),
    ):
        body[at : at + len(piece)] = piece
    return bytes(body) + b"".join(sections)


def _symbols(strings: bytes, functions: Sequence[str], at: int) -> bytes:
    """Global functions, all at one place that holds no code, in the section of the hash table (number 3)."""
    return b"".join(
        struct.pack("<IBBHQQ", strings.index(b"\0" + name.encode() + b"\0") + 1, 0x12, 0, 3, at, 0)
        for name in functions
    )


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
