"""What a signal asks for: a stop, an end at once, or nothing new. Pure: names and times are handed in.

TERM, INT, HUP and QUIT start one and the same stop. A second INT, or a second TERM that comes more than a second after
the first, is impatience; systemd and a wrapper may both send one TERM at the same moment, and a closed pane sends two
hang-ups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from launcher.supervise.lifecycle import Event

SAME_MOMENT = 1.0  # seconds


@dataclass(frozen=True)
class Asked:
    """What was asked for so far. `first` is the name of the signal that began the stop."""

    first: str | None = None
    interrupts: int = 0
    first_term: float | None = None  # monotonic seconds


def hear(asked: Asked, name: str, at: float) -> tuple[Asked, Event | None]:
    """What one more signal changes."""
    before = asked
    if name == "SIGINT":
        asked = replace(asked, interrupts=asked.interrupts + 1)
    if name == "SIGTERM" and asked.first_term is None:
        asked = replace(asked, first_term=at)
    if before.first is None:
        return replace(asked, first=name), Event.STOP_ASKED
    second_interrupt = name == "SIGINT" and before.interrupts > 0
    second_term = name == "SIGTERM" and before.first_term is not None and at - before.first_term > SAME_MOMENT
    return asked, Event.HURRY if second_interrupt or second_term else None
