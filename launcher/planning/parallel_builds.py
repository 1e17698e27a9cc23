"""MAX_JOBS: how many compilers ninja may run at once. Pure.

Left alone it starts one more than there are CPUs, and a unit of FlashInfer's takes about 8 GiB: the kernel then kills
nvcc, or the machine stops answering (flashinfer-ai/flashinfer#3634).
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.consumers import installed
from launcher.model import Change, Choice
from launcher.situation import Situation

BYTES_FOR_A_JOB = 8 << 30


def variables(situation: Situation, choice: Choice) -> Iterator[Change]:
    """As many as there are CPUs and room in memory for; at least one."""
    host = situation.facts.host
    memory = host.memory_available if host.memory_available is not None else host.memory
    if choice.release is None or memory is None or not any(consumer.NEEDS for consumer in installed(situation)):
        return
    jobs = max(1, min(host.cpus, memory // BYTES_FOR_A_JOB))
    yield Change(
        name="MAX_JOBS",
        action="set",
        value=str(jobs),
        origin="cuda",
        because=f"{host.cpus} CPUs, and {memory >> 30} GiB of memory at about 8 GiB for each compiler",
    )
