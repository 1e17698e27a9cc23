"""Why one start of the server ended: its words as they come, and the kernel's word when it is gone.

The words are looked at in the capture's thread, the kernel is asked in the thread that waits for what was released.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from launcher.causes.concluding import Conclusion, End
from launcher.causes.investigating import Inquiry
from launcher.model import Plan

SURVIVED = 1800.0  # seconds that a ready server lives on after bad words until they explain nothing any more
DEAD_FOR = 60.0  # seconds after words that no server survives, until one that is still there is ended


class Examination:
    """Begins before the server starts, so that what the kernel says from then on is about it."""

    def __init__(self, plan: Plan, cgroup: Path | None) -> None:
        self._plan = plan
        self._inquiry = Inquiry(cgroup)
        # A loading server that logs each of our own questions makes no progress by that.
        self._question: str | None = plan.ready.url.partition("://")[2].partition("/")[2] if plan.ready else None
        self._spoke_at = 0.0
        self._progress: str | None = None
        self._dead_since: float | None = None
        self._ready = False
        self._suspicious_since: float | None = None
        self.conclusion: Conclusion | None = None

    def hear(self, block: bytes) -> None:
        """Whole lines of the server."""
        self._inquiry.recogniser.feed_bytes(block)
        question = f"/{self._question} HTTP/".encode() if self._question is not None else None
        if question is None or question not in block or any(question not in line for line in block.splitlines()):
            self._spoke_at = time.monotonic()

    def spoke_at(self, progress: str | None) -> float:
        """When it last said something of its own accord, or its progress bar moved (monotonic seconds)."""
        if progress != self._progress:
            self._progress, self._spoke_at = progress, time.monotonic()
        return self._spoke_at

    def is_ready(self) -> None:
        """It is well: what was said so far ended nothing, and nobody asks for a while."""
        self._question, self._ready = None, True
        self._inquiry.recogniser.survived()

    def dead_and_there(self, now: float) -> str:
        """Why it is to be ended, where it said that it is dead and lives on (vllm-project/vllm#54553); else empty.

        Asked all the time while it lives: what it survived, such as a request that failed, is forgotten here.
        """
        dead = self._inquiry.recogniser.dead
        if dead is None:
            self._dead_since = None
            self._forget_what_it_survived(now)
            return ""
        self._dead_since = now if self._dead_since is None else self._dead_since
        if now - self._dead_since < DEAD_FOR:
            return ""
        return f"{dead.cause}; it said so {DEAD_FOR:.0f} s ago and did not end"

    def _forget_what_it_survived(self, now: float) -> None:
        recogniser = self._inquiry.recogniser
        if not self._ready or not recogniser.suspicious:
            self._suspicious_since = None
        elif self._suspicious_since is None:
            self._suspicious_since = now
        elif now - self._suspicious_since >= SURVIVED:
            recogniser.survived()
            self._suspicious_since = None

    def conclude(self, end: End, pids: Collection[int]) -> None:
        """Makes up its mind. `pids` are all that ever were the server's."""
        self.conclusion = self._inquiry.conclude(end, self._plan, pids)
        self._inquiry.close()
