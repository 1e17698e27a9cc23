"""The program that runs llama.cpp's server in a target's Python: the real one, on the tiny model."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import launcher
from launcher.model import Step
from launcher.prepare import carry_out_steps
from tests.helpers import eventually, free_port

pytest.importorskip("xllamacpp")
PROGRAM = Path(launcher.__file__).parent / "engines/servers/xllamacpp_server.py"
KEY = "sk-of-the-test"
PROMPTS = 8  # in one request: its one slot works at one of them after the other


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's model."""
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    carry_out_steps([Step(action="tiny-model", path=str(path), because="a test wants it")])
    return path


def program(*words: str | Path) -> list[str]:
    """Its command line."""
    return [sys.executable, str(PROGRAM), *map(str, words)]


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Until it ends by itself."""
    return subprocess.run(program(*words), capture_output=True, text=True, timeout=60)


@dataclass
class Server:
    """A server that answers."""

    process: subprocess.Popen[bytes]
    port: int

    def ask(self, path: str, question: dict[str, Any] | None = None, key: str = KEY) -> Any:
        """The JSON of its answer."""
        data = json.dumps(question).encode() if question else None
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as reply:
            return json.load(reply)

    def answers(self) -> bool:
        """True once it serves."""
        try:
            return bool(self.ask("/health"))
        except OSError:
            return False

    def is_working(self) -> bool:
        """True while it produces tokens."""
        return any(slot["is_processing"] for slot in self.ask("/slots"))


@pytest.fixture
def server(model: Path, tmp_path: Path) -> Iterator[Server]:
    """One slot, a key and another name."""
    port = free_port()
    words = program(
        "--model",
        model,
        "--port",
        str(port),
        "--ctx-size",
        "512",
        "--threads",
        "1",
        "--alias",
        "parrot",
        "--api-key",
        KEY,
    )
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            server = Server(process, port)
            eventually(server.answers, within=60)
            yield server
        finally:
            process.kill()


def test_its_options_reach_llama_cpp(server: Server) -> None:
    assert [model["id"] for model in server.ask("/v1/models")["data"]] == ["parrot"]
    assert server.ask("/slots")[0]["n_ctx"] == 512
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.ask("/slots", key="another")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_requests_in_work_and_in_line_are_answered_before_it_ends_with_0(server: Server, number: int) -> None:
    """The wheel's own way to end leaves a client without an answer and itself without an end."""
    question = json.dumps({"prompt": ["x"] * PROMPTS, "max_tokens": 400, "ignore_eos": True})
    clients = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=60) for _ in range(2)]
    for client in clients:
        client.request("POST", "/v1/completions", question, {"Authorization": f"Bearer {KEY}", "Connection": "close"})
    eventually(server.is_working)
    server.process.send_signal(number)
    for client in clients:
        with contextlib.closing(client):
            assert len(json.load(client.getresponse())["choices"]) == PROMPTS
    assert server.process.wait(30) == 0


@pytest.mark.parametrize("content", [None, b"no model"], ids=["missing", "broken"])
def test_a_model_that_cannot_be_served_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "model.gguf"
    if content:
        path.write_bytes(content)
    ended = run("--model", path, "--port", str(free_port()))
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert [line for line in ended.stderr.splitlines() if line.startswith("xllamacpp_server: ") and str(path) in line]


def test_an_option_that_it_cannot_apply_is_an_error(model: Path) -> None:
    ended = run("--model", model, "--flash-attn", "on")
    assert ended.returncode == 2
    assert "--flash-attn" in ended.stderr
