"""Does it hang? Pure: samples and times are handed in.

Idle is not stuck. Requests that run or wait while nothing moves for so long are: /health answered 200 in front of a
dead engine (vllm-project/vllm#11996, #39863, #16259).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Sample:
    """What its counters said. `busy` is the number of requests that run or wait."""

    busy: float
    moving: Mapping[str, float]


@dataclass(frozen=True)
class Pulse:
    """What was seen so far. `since` is when something last moved, or when it last was idle (monotonic seconds)."""

    since: float
    answered: bool = False  # it had counters at least once
    moving: Mapping[str, float] = field(default_factory=dict)


def feel(pulse: Pulse, sample: Sample | None, stall: float, at: float) -> tuple[Pulse, str]:
    """The pulse with one more sample, and why it hangs; empty where it does not, or where that cannot be told.

    `sample` None: no answer, or none with counters.
    """
    if sample is None:
        if pulse.answered and at - pulse.since >= stall:
            return pulse, f"its counters answered before, and not for {at - pulse.since:.0f} s"
        return pulse, ""
    if sample.busy <= 0 or sample.moving != pulse.moving or not pulse.answered:
        return Pulse(at, answered=True, moving=sample.moving), ""
    if at - pulse.since < stall:
        return replace(pulse, answered=True), ""
    requests = "1 request runs or waits" if sample.busy == 1 else f"{sample.busy:.0f} requests run or wait"
    return pulse, f"{requests}, and no token came for {at - pulse.since:.0f} s"
