"""Asks the server's own URL until it answers 2xx, then, if asked, for one token. In a thread: a slow answer must not
delay a signal.

Proxies are ignored (sgl-project/sglang#9155). One try may take long: sglang's /health generates a token, and the first
token of any engine may have to wait for kernels to be compiled. The key goes only to a server that is known to be ours:
/health asks for none in vLLM, SGLang, llama.cpp and transformers, but a profile may name another path.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from launcher.liveness.http import Answer, ask

_TRY = 10.0  # seconds for one answer
_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.1, 1.0, 1.3  # seconds between tries
_ASKS_FOR_A_KEY = (401, 403)


class Probe:
    """Calls `answered` once, from its own thread, when the server itself (`is_ours`) answered and gave a token.

    `token` asks for one and returns what came instead, empty for success; None: nobody asks for one.
    """

    def __init__(
        self,
        url: str,
        answered: Callable[[], None],
        is_ours: Callable[[], bool] = lambda: True,
        *,
        key: str | None = None,
        token: Callable[[], str] | None = None,
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._url = url
        self._answered = answered
        self._is_ours = is_ours
        self._key = key
        self._token = token
        self._say = say
        self._said = ""
        self.heard = "nobody was asked yet"  # what came last instead of a yes, for whoever gives up
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ready", daemon=True)

    def start(self) -> None:
        """Begins to ask."""
        self._thread.start()

    def stop(self) -> None:
        """No more questions; does not wait for an answer that is under way."""
        self._stopped.set()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stopped.wait(pause):
            if self._is_ready():
                if not self._stopped.is_set():
                    self._answered()
                return
            pause = min(pause * _GROWTH, _LONGEST_PAUSE)

    def _is_ready(self) -> bool:
        answer = ask(self._url, timeout=_TRY)
        self.heard = "gives no answer" if answer is None else f"answers {answer.status}"
        if answer is None or not (answer.good or answer.status in _ASKS_FOR_A_KEY) or not self._is_ours():
            return False
        return self._opens_up(answer) and self._generates()

    def _opens_up(self, answer: Answer) -> bool:
        """A 2xx, if need be with the key."""
        with_key = ask(self._url, timeout=_TRY, key=self._key) if not answer.good and self._key else answer
        return with_key is not None and with_key.good

    def _generates(self) -> bool:
        problem = self._token() if self._token is not None else ""
        if problem:
            self.heard = f"answers, but not with a token: {problem}"
        if problem and problem != self._said and not self._stopped.is_set():
            self._said = problem
            self._say(f"{self._url} answers, but not yet with a token: {problem}")
        return not problem
