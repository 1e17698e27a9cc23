"""One start of the server, with everything that watches it until nothing of it is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from launcher.capture.capture import Capture
from launcher.capture.log_thread import LogThread
from launcher.causes.concluding import Conclusion
from launcher.model import Finding
from launcher.supervise.examining import Examination
from launcher.supervise.processes import Process

NOBODY = Process(0, 0)


@dataclass
class Attempt:
    """`number` counts from 1. Times are monotonic seconds."""

    number: int
    leader: Process = NOBODY
    wait_status: int | None = None  # None: it still runs
    refused: Finding | None = None  # why it could not even be started
    stuck: str = ""  # why we ended it
    ready_at: float | None = None
    ended_at: float | None = None
    capture: Capture | None = None
    examination: Examination | None = None
    log: LogThread | None = None
    heard: Callable[[], str] = str  # what came last instead of the answer that means ready
    until_ready: list[Callable[[], None]] = field(default_factory=list)  # ends those who wait for it to be ready
    until_over: list[Callable[[], None]] = field(default_factory=list)  # ends those who look at it as long as it is

    @property
    def healthy(self) -> float:
        """Seconds from ready to the end of the leader."""
        if self.ready_at is None or self.ended_at is None:
            return 0.0
        return self.ended_at - self.ready_at

    def is_ready(self, at: float) -> None:
        """From now on."""
        self.ready_at = at
        _end(self.until_ready)
        if self.examination is not None:
            self.examination.is_ready()

    @property
    def conclusion(self) -> Conclusion | None:
        """Why it ended, as far as that is known."""
        return self.examination.conclusion if self.examination is not None else None

    def spoke_at(self) -> float:
        """When it last said something of its own accord (monotonic seconds)."""
        if self.examination is None or self.capture is None:
            return 0.0
        return self.examination.spoke_at(self.capture.progress)

    def dead_and_there(self, now: float) -> str:
        """Why it is to be ended though it runs, where it said that it is dead; else empty."""
        return self.examination.dead_and_there(now) if self.examination is not None else ""

    def stop_watching(self) -> None:
        """No more questions to it. Does not wait."""
        _end(self.until_ready)
        _end(self.until_over)


def _end(watchers: list[Callable[[], None]]) -> None:
    for end in watchers:
        end()
    watchers.clear()
