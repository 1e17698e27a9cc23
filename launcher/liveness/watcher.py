"""Watches a ready server in a thread of its own: its counters, and, if asked, one token now and then while it is idle.

Without counters nobody can tell idle from stuck, so nothing is judged then, and that is said once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from launcher.liveness.generate import one_token
from launcher.liveness.http import Answer, ask
from launcher.liveness.judge import Pulse, Sample, feel
from launcher.liveness.metrics import METRICS, Metrics
from launcher.liveness.prometheus import sums

_ANSWER = 10.0  # seconds for the counters
_LONGEST_PAUSE = 15.0  # seconds between looks
_LOOKS = 10  # looks within one stall, at least
_TOKEN_EVERY = 60.0  # seconds between tokens of an idle server


@dataclass(frozen=True)
class Watched:
    """Which server. `address` without a path; `stall` and times in seconds."""

    engine: str
    address: str
    key: str | None
    stall: float
    generate: bool
    model: str | None = None


class Watcher:
    """Calls `hangs` once with the reason. `unknown` is told once why nothing can be told."""

    def __init__(self, watched: Watched, hangs: Callable[[str], None], unknown: Callable[[str], None]) -> None:
        self._watched = watched
        self._hangs = hangs
        self._unknown = unknown
        self._stopped = threading.Event()
        self._dialects = (METRICS[watched.engine],) if watched.engine in METRICS else tuple(METRICS.values())
        threading.Thread(target=self._run, name="live", daemon=True).start()

    def stop(self) -> None:
        """No more questions; does not wait for an answer that is under way."""
        self._stopped.set()

    def _run(self) -> None:
        pulse, said, token_at = Pulse(time.monotonic()), False, time.monotonic()
        pause = min(_LONGEST_PAUSE, self._watched.stall / _LOOKS)
        while not self._stopped.wait(pause):
            answer = ask(f"{self._watched.address}/metrics", timeout=_ANSWER, key=self._watched.key)
            sample = read(answer, self._dialects)
            pulse, why = feel(pulse, sample, self._watched.stall, time.monotonic())
            if sample is None and not pulse.answered and not said:
                said = True
                self._unknown(self._no_counters(answer))
            idle = sample is not None and sample.busy <= 0
            if (
                self._watched.generate
                and idle
                and time.monotonic() - token_at >= min(_TOKEN_EVERY, self._watched.stall)
            ):
                why, token_at = self._token(), time.monotonic()
            if why and not self._stopped.is_set():
                self._hangs(why)
                return

    def _token(self) -> str:
        """Why it hangs, if an idle server gives no token in time. An error is an answer, and no hang."""
        watched = self._watched
        problem = one_token(watched.address, watched.key, timeout=watched.stall, model=watched.model)
        return f"idle, it gave no token within {self._watched.stall:g} s" if problem == "no answer" else ""

    def _no_counters(self, answer: Answer | None) -> str:
        status = "does not answer" if answer is None else f"answers {answer.status}"
        if answer is not None and answer.good:
            status = "has none of the counters that we know"
        options = " or ".join(dialect.TURNED_ON_BY for dialect in self._dialects if dialect.TURNED_ON_BY)
        advice = f"; {options} turns them on" if options and len(self._dialects) == 1 else ""
        return f"could not tell whether the server hangs: {self._watched.address}/metrics {status}{advice}"


def read(answer: Answer | None, dialects: tuple[Metrics, ...]) -> Sample | None:
    """The sample in an answer, of the first engine whose counters it has."""
    if answer is None or not answer.good:
        return None
    for dialect in dialects:
        found = sums(answer.text, (*dialect.BUSY, *dialect.MOVING))
        if any(name in found for name in dialect.BUSY):
            busy = sum(found.get(name, 0.0) for name in dialect.BUSY)
            return Sample(busy, {name: found[name] for name in dialect.MOVING if name in found})
    return None
