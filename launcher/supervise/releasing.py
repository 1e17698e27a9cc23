"""Waits until what a server held can be had by the next one: its output, its port, and the memory of its GPUs.

In a thread, for the loop must go on hearing signals. Bounded: who holds it after that is named. Only when all are free
is the server gone for whoever starts the next one (sgl-project/sglang PR 16756; vllm-project/vllm#55510: the port was
free at once, the memory was not, and the restart ended out of memory).
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Iterable

from launcher.model import Endpoint
from launcher.supervise import port

PATIENCE = 20.0  # seconds
_PAUSE = 0.2  # seconds between tries

# Waits, until a time (monotonic seconds) or until nobody waits any more; a sentence if it waited in vain.
Wait = Callable[[float, threading.Event], str | None]


class Release:
    """Carries out the waits one after the other and calls `released` with the sentences, from its own thread."""

    def __init__(self, waits: Iterable[Wait], released: Callable[[tuple[str, ...]], None]) -> None:
        self._waits = tuple(waits)
        self._released = released
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="release", daemon=True).start()

    def stop(self) -> None:
        """Nobody waits any more."""
        self._stopped.set()

    def _run(self) -> None:
        found = (wait(time.monotonic() + PATIENCE, self._stopped) for wait in self._waits)
        self._released(tuple(sentence for sentence in found if sentence))


def port_is_free(endpoint: Endpoint) -> Wait:
    """Until the port can be bound again."""

    def wait(until: float, stopped: threading.Event) -> str | None:
        while port.bind_problem(endpoint) == errno.EADDRINUSE:
            holders = ", ".join(f"{pid} ({command})" for pid, command in port.holders(endpoint.port))
            # Nothing of ours is left: somebody else's process has taken it meanwhile, and will not let go for us.
            if holders or time.monotonic() > until:
                return f"port {endpoint.port} is taken by {holders or 'somebody whom this user may not see'}"
            if stopped.wait(_PAUSE):
                return None
        return None

    return wait
