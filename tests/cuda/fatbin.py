"""Which GPU architectures a library holds code for: reads the headers of its fat binaries. No cuobjdump needed.

The layout is not documented by NVIDIA; it is known from public readers (ZLUDA's fatbin headers among them), and a
test compiles for two architectures to show that this reader tells them apart.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)
_ELF = 2  # the kind of an entry that holds machine code; 1 is PTX
_ENTRY = struct.Struct("<HHIQIIII")  # kind, version, header size, payload size, three unknown, architecture


def architectures(library: bytes) -> set[int]:
    """The SM numbers with machine code: {120} for compute capability 12.0. Empty where there is none."""
    return {architecture for kind, architecture in _entries(library) if kind == _ELF}


def _entries(library: bytes) -> Iterator[tuple[int, int]]:
    start = library.find(_MAGIC)
    while start >= 0:
        position = start + 16
        end = position + struct.unpack_from("<Q", library, start + 8)[0]
        while position + _ENTRY.size <= min(end, len(library)):
            kind, _, header, payload, _, _, _, architecture = _ENTRY.unpack_from(library, position)
            yield kind, architecture
            position += header + payload
        start = library.find(_MAGIC, start + 1)
