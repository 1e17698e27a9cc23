"""Files and descriptors: what steers it, and what it leaves."""

from __future__ import annotations

import mmap
import os
from pathlib import Path


def is_there(path: Path | None) -> bool:
    return path is not None and path.exists()


def read_line(descriptor: int) -> bytes:
    """Byte by byte: what follows, if only the end, is for somebody else."""
    line = b""
    while (byte := os.read(descriptor, 1)) not in (b"\n", b""):
        line += byte
    return line


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_whole(path: Path, content: str) -> None:
    """The file is there with all of it, or not at all."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(content)
    draft.replace(path)


def segment(name: str) -> mmap.mmap:
    """A page of shared memory, as NCCL makes them; nobody removes it."""
    path = Path("/dev/shm", name)
    path.write_bytes(bytes(mmap.PAGESIZE))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), mmap.PAGESIZE)
