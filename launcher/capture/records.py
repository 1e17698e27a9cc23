"""What a line looks like in the log: with its time, its stream, and as JSON its rank. Pure.

Text: `2026-12-03T00:00:00.123Z out the line`. JSON: `{"time": ..., "stream": "out", "line": ...}`. The streams are
`out` and `err` of the server, and `gpulaunch` for what we say about the log ourselves.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Literal

from launcher.capture.ranks import rank

Stream = Literal["out", "err", "gpulaunch"]
Part = bytes | memoryview


def stamped(block: bytes, stream: Stream, at: float, form: Literal["text", "json"]) -> bytes:
    """A block of whole lines, each with its mark. `at` in seconds since the epoch, shown in UTC with milliseconds."""
    return b"".join(stamped_parts(block, stream, at, form))


def stamped_parts(block: bytes, stream: Stream, at: float, form: Literal["text", "json"]) -> tuple[Part, ...]:
    """The same in parts that follow each other: putting them together would copy a large block once more."""
    if not block:
        return ()
    time = datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{int(at * 1000) % 1000:03d}Z"
    if form == "json":
        return (b"".join(_json(line, stream, time) for line in block.split(b"\n")[:-1]),)
    mark = f"{time} {stream} ".encode()
    return mark, memoryview(block.replace(b"\n", b"\n" + mark))[: -len(mark)]


def _json(line: bytes, stream: Stream, time: str) -> bytes:
    text = line.decode("utf-8", "backslashreplace")
    return json.dumps({"time": time, "stream": stream, **rank(text), "line": text}).encode() + b"\n"
