"""Who looks at one start of the server, each in a thread of its own: is it ready, still at it, does it still work?

What they find out is posted to the loop as an event of that very start; none of them acts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from launcher.liveness.api_key import api_key
from launcher.liveness.generate import one_token
from launcher.liveness.http import origin
from launcher.liveness.loading import Loading
from launcher.liveness.served_model import served_model
from launcher.liveness.watcher import Watched, Watcher
from launcher.model import Liveness, Plan, Readiness
from launcher.supervise import port
from launcher.supervise.attempt import Attempt
from launcher.supervise.lifecycle import Event
from launcher.supervise.ready import Probe

_TOKEN = 600.0  # seconds for the first token, for which kernels may be compiled

Poster = Callable[[Event], Callable[[str], None]]  # what posts that this happened to the present start, in words


class Watching:
    """`pids` are the server's processes at present."""

    def __init__(self, plan: Plan, pids: Callable[[], Iterable[int]], say: Callable[[str], None]) -> None:
        self._plan = plan
        self._pids = pids
        self._say = say
        self._refused_answer = False

    def until_ready(self, ready: Readiness, attempt: Attempt, poster: Poster) -> None:
        """Asks whether it is ready, and looks whether it is still at it."""
        key, answered = self._key(), poster(Event.READY)
        probe = Probe(
            ready.url,
            lambda: answered(""),
            self._answers_itself,
            key=key,
            token=partial(one_token, origin(ready.url), key, timeout=_TOKEN, model=self._model())
            if ready.generate
            else None,
            say=self._say,
        )
        probe.start()
        attempt.until_ready.append(probe.stop)
        attempt.heard = lambda: probe.heard
        if ready.stall:
            loading = Loading(ready.stall, self._pids, attempt.spoke_at, poster(Event.STUCK))
            attempt.until_ready.append(loading.stop)

    def while_ready(self, live: Liveness, attempt: Attempt, poster: Poster) -> None:
        """Looks whether it still works."""
        watched = Watched(self._plan.engine, live.url, self._key(), live.stall, live.generate, self._model())
        attempt.until_over.append(Watcher(watched, poster(Event.STUCK), self._say).stop)

    def _key(self) -> str | None:
        return api_key(self._plan.argv, self._plan.env)

    def _model(self) -> str | None:
        return served_model(self._plan.engine, self._plan.argv)

    def _answers_itself(self) -> bool:
        """False if somebody else is known to listen at the port: two that were started at once saw it free, both.

        Asked in the probe's thread. Where this user may not see who listens, the answer counts.
        """
        endpoint = self._plan.endpoint
        listeners = {pid for pid, _ in port.holders(endpoint.port)} if endpoint else set()
        if not listeners or listeners & set(self._pids()):
            return True
        if not self._refused_answer:
            self._refused_answer = True
            url = self._plan.ready.url if self._plan.ready else ""
            self._say(f"{url} is answered by somebody else: not taken for ready")
        return False
