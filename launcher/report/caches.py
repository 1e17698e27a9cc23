"""What the cache of compiled kernels holds, for people and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from launcher.caches import Kept
from launcher.report.document import SCHEMA_VERSION, Document
from launcher.report.lines import Line

DAY = 86_400


def cache_lines(kept: Iterable[Kept], now: float) -> Iterator[Line]:
    """One line a folder: name, size, last use; then who uses it."""
    entries = tuple(kept)
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        modules = f", {entry.modules} of FlashInfer's modules" if entry.modules else ""
        text = f"{size(entry.bytes):>8}  {age(now - entry.last_used)}{modules}"
        yield Line(text, lead=f"{entry.name:{width}} ", lead_style="bold", whole=True)
        yield from (Line(f"in use: {who}", indent=width + 2, style="yellow") for who in entry.used_by)
    if entries:
        yield Line(f"{size(sum(entry.bytes for entry in entries))} in all; gpulaunch cache prune removes what is old.")
    else:
        yield Line("Nothing was compiled yet.")


def caches_document(kept: Iterable[Kept]) -> Document:
    """`last_used` in seconds since 1970."""
    return {
        "schema_version": SCHEMA_VERSION,
        "caches": [
            {
                "name": entry.name,
                "path": entry.path,
                "bytes": entry.bytes,
                "files": entry.files,
                "flashinfer_modules": entry.modules,
                "last_used": int(entry.last_used),
                "used_by": list(entry.used_by),
            }
            for entry in kept
        ],
    }


def size(number: int) -> str:
    """ "0 B", "3.4 MB", "12 GB"."""
    for unit, length in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= length:
            value = number / length
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
    return f"{number} B"


def age(seconds: float) -> str:
    """How long ago, in the largest unit that fits."""
    for length, unit in ((DAY, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= length:
            number = int(seconds // length)
            return f"used {number} {unit}{'' if number == 1 else 's'} ago"
    return "used just now"
