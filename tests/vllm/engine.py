"""A real engine on a tiny model, launched as an operator does: a profile, `gpulaunch ENGINE --profile P`."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tests.helpers import eventually
from tests.launching import Launch
from tests.survivors import Process

# What a small CPU machine needs, and no word to any hub.
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
ARGS: dict[str, dict[str, Any]] = {
    "vllm": {"served-model-name": "tiny", "max-model-len": 256, "enforce-eager": True},
    "transformers": {"device": "cpu"},
    "llamacpp": {"ctx-size": 512, "threads": 1},
}
PATIENCE = 240.0  # seconds for a start: vLLM takes 30 s of two idle cores, and others may work on them
BEYOND_GRACE = 5.0  # seconds after the grace in which everything must be over

_Seen = TypeVar("_Seen")


@dataclass
class Engine(Launch):
    """One launch of a real engine."""

    grace: str = "20s"
    target: Mapping[str, str] = field(kw_only=True)
    tiny: str = field(kw_only=True)  # the model that it serves when none is named
    cache: Path = field(kw_only=True)  # shared by the launches of a session: vLLM keeps there what it knows of a model
    called: str = ""  # the model, in requests

    @property
    def grace_seconds(self) -> float:
        """As a number."""
        return float(self.grace.rstrip("s"))

    def serve(
        self,
        engine: str,
        *flags: str,
        model: str | None = None,
        environ: Mapping[str, str] | None = None,
        args: Mapping[str, Any] | None = None,
        **keys: Any,
    ) -> Engine:
        """Starts gpulaunch; `flags` follow its --, `keys` are those of the profile."""
        path = model or self.tiny
        self.called = ARGS[engine].get("served-model-name", path)
        tree = {
            "schema": 1,
            "name": self.name,
            "engine": engine,
            "target": dict(self.target),
            "model": path,
            "args": {"host": "127.0.0.1", "port": self.port, **ARGS[engine], **(args or {})},
            "env": {"set": ENVIRONMENT},
            "stop": {"grace": self.grace},
            **keys,
        }
        self.file.write_text(json.dumps(tree))  # JSON is YAML
        self.file.chmod(0o600)
        # What the libraries find is another stage's business: nobody is asked for it here.
        own = ("--profile", str(self.file), "--name", self.instance, "--no-verify")
        words = [sys.executable, "-m", "launcher", engine, *own, "--", *flags]
        self.run(words, {**self.environ, "XDG_CACHE_HOME": str(self.cache), **(environ or {})})
        return self

    def served(self, key: str = "none") -> Engine:
        """Waits until it is ready; it then answers."""
        self._until(lambda: "gpulaunch: ready:" in self.errors, "it was ready")
        assert len(self.complete(key=key)["choices"]) == 1
        return self

    def until_output(self, pattern: str) -> Engine:
        """Waits until the server writes something, on either stream."""
        self._until(lambda: re.search(pattern, self.said), f"{pattern!r} in what the server wrote")
        return self

    @property
    def said(self) -> str:
        """Everything that reached the terminal."""
        return self.output.decode(errors="replace") + self.errors

    def part(self, name: str) -> Process:
        """The process whose title begins so, as soon as there is one."""
        return self._until(lambda: self._named(name), f"a process {name}")

    @property
    def leader(self) -> int:
        """The pid of the process that gpulaunch started, as soon as it has."""
        record = self.run_folder / "processes.json"
        self._until(record.exists, "it started the server")
        return int(json.loads(record.read_text())["leader"][0])

    def complete(self, tokens: int = 4, key: str = "none") -> dict[str, Any]:
        """The answer to a completion."""
        question = {"model": self.called, "prompt": "Hello", "max_tokens": tokens, "temperature": 0}
        return self.ask("/v1/completions", question, key)

    @contextlib.contextmanager
    def asked_without_end(self) -> Iterator[None]:
        """Clients of vLLM that wait for long answers, one after the other: a fast machine ends each at once."""
        over = threading.Event()

        def client() -> None:
            question = {"model": self.called, "prompt": ["Hello"] * 8, "max_tokens": 240, "ignore_eos": True}
            while not over.wait(0.01):
                with contextlib.suppress(OSError, http.client.HTTPException):
                    self.ask("/v1/completions", question)

        threads = [threading.Thread(target=client, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def hangs_in_a_request(self, pid: int) -> bool:
        """Makes a process stand still, and lets it go on where that was between two requests."""
        os.kill(pid, signal.SIGSTOP)
        for _ in range(10):  # a step that was under way is still counted
            time.sleep(0.1)
            if not self.has_a_request():
                os.kill(pid, signal.SIGCONT)
                return False
        return True

    def has_a_request(self) -> bool:
        """True while vLLM counts one that runs."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as reply:
            return bool(re.search(rb"^vllm:num_requests_running\{.*\} [1-9]", reply.read(), re.MULTILINE))

    def ask(self, path: str, question: dict[str, Any] | None = None, key: str = "none") -> dict[str, Any]:
        """The JSON of an answer."""
        data = json.dumps(question).encode() if question else None
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as reply:
            return dict(json.load(reply))

    def ended(self) -> int:
        """The exit code of gpulaunch, which must come within the grace and a little; then nothing may be alive."""
        code = self.wait(self.grace_seconds + BEYOND_GRACE)
        self.nothing_is_left()
        return code

    def nothing_is_left(self) -> None:
        """No process, and the port can be bound at once."""
        assert self.corral.survivors() == []
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", self.port))

    def written(self) -> dict[str, str]:
        """Everything that gpulaunch wrote: its files below the state folder, and the terminal."""
        files = (path for path in (self.folder / "state").rglob("*") if path.is_file() and not path.is_symlink())
        return {"terminal": self.said, **{path.name: path.read_text(errors="replace") for path in files}}

    def _named(self, name: str) -> Process | None:
        return next((process for process in self.corral.survivors() if process.comm.startswith(name)), None)

    def _until(self, look: Callable[[], _Seen | None], what: str) -> _Seen:
        """What `look` sees; fails at once if gpulaunch ends before."""

        def seen() -> _Seen | None:
            assert self.process is not None
            ended, found = self.process.poll() is not None, look()
            assert found or not ended, f"gpulaunch ended before {what}: {self.errors}"
            return found

        found = eventually(seen, within=PATIENCE, what=what)
        assert found is not None
        return found
