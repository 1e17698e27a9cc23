"""Is there room in /dev/shm? NCCL and the engines' workers talk to each other through files there.

A write beyond the room is a SIGBUS without a word. Docker gives 64 MiB by default; each crash may leave segments behind
until no start succeeds any more (llm-d/llm-d#352).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from launcher import findings
from launcher.model import Finding
from launcher.preflight.moment import Moment

_MIB = 1 << 20
_LEAST = 32 * _MIB  # free; below that NCCL's buffers between two GPUs of one machine have no room
_AMPLE = 1024 * _MIB  # vLLM's message queue alone may fill 240 MiB (`shm_broadcast.py`: 10 chunks of 24 MiB)


def check(moment: Moment) -> Iterator[Finding]:
    """75 where it is full, a warning where it is small; for servers of one GPU or none only the first."""
    several = len(moment.wanted) > 1
    if not moment.wanted and moment.plan.engine not in ("sglang", "vllm"):
        return
    folder = moment.dev / "shm"
    try:
        found = os.statvfs(folder)
    except OSError:
        return
    yield from judged(str(folder), found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize, several=several)


def judged(folder: str, free: int, total: int, *, several: bool) -> Iterator[Finding]:
    """By numbers alone, in bytes. `several`: GPUs."""
    if free < _LEAST:
        yield findings.error(
            "shm-full",
            f"{folder} has {free // _MIB} MiB free of {total // _MIB}: workers could not talk to each other.",
            fix="gpulaunch clean removes what earlier runs left there; else docker run --shm-size=16g.",
        )
    elif several and free < _AMPLE:
        yield findings.warning(
            "shm-small",
            f"{folder} has {free // _MIB} MiB free of {total // _MIB}; several GPUs need more.",
            fix="docker run --ipc=host or --shm-size=16g.",
        )
