"""What each engine calls its counters: one file each, and the table of them.

To add one: a module that satisfies `Metrics`, one line in `METRICS`.
"""

from __future__ import annotations

from typing import Protocol

from launcher.liveness.metrics import llamacpp, sglang, vllm


class Metrics(Protocol):
    """Names in the text of `/metrics`. Pure."""

    @property
    def BUSY(self) -> tuple[str, ...]:
        """Gauges of requests that run or wait; their sum is 0 when it is idle."""

    @property
    def MOVING(self) -> tuple[str, ...]:
        """What changes while it works; for a server that hangs all of them stand still."""

    @property
    def TURNED_ON_BY(self) -> str:
        """The option without which there are no metrics; empty where they are always there."""


METRICS: dict[str, Metrics] = {
    "llamacpp": llamacpp,
    "sglang": sglang,
    "vllm": vllm,
}
