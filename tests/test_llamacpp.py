"""Real llama.cpp, as the xllamacpp wheel has it, through gpulaunch: ready, its log, its ends, its port after them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.survivors import Corral
from tests.vllm.engine import Engine

pytest.importorskip("xllamacpp")
KEY = "sk-planted-0123456789abcdef"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model is made there once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def engine(cache: Path, tmp_path: Path) -> Iterator[Engine]:
    """A launch that has not been started."""
    with Corral() as corral:
        yield Engine(corral, tmp_path, target={"python": "self"}, tiny="tiny", cache=cache)


def test_it_is_ready_when_it_gives_a_token_and_its_port_is_free_right_after_each_stop(engine: Engine) -> None:
    """With an API key, which the probe for a token and the one for its counters must hold."""
    for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGTERM, 0)):
        engine.serve(
            "llamacpp", args={"api-key": KEY, "metrics": True}, ready={"generate": True}, live={"stall": "20s"}
        )
        engine.served(key=KEY)
        engine.signal(number)
        assert engine.ended() == code
        assert engine.outcome["child"] == "exit 0" and engine.outcome["ready"] and engine.outcome["requested"]


def test_its_log_holds_its_own_lines_with_stamps_to_the_last_and_no_secret(engine: Engine) -> None:
    engine.serve("llamacpp", args={"api-key": KEY}).served(key=KEY)
    assert KEY.encode() in Path(f"/proc/{engine.leader}/cmdline").read_bytes(), "the server has it"
    engine.signal(signal.SIGTERM)
    assert engine.ended() == 0
    shown = (engine.output + (engine.folder / "stderr").read_bytes()).splitlines()
    lines = [line for line in engine.log.splitlines() if line.strip()]
    for words in (b"listening on http://127.0.0.1:", b"prompt eval time", b"stopping"):
        assert any(words in line for line in lines), words
    assert b"\x1b" not in engine.log
    assert lines[-1] in shown, "its last words are in both"
    for name, text in engine.written().items():
        assert KEY not in text, name


def test_its_sudden_death_is_a_failure_with_the_signal_as_its_cause(engine: Engine) -> None:
    engine.serve("llamacpp").served()
    os.kill(engine.leader, signal.SIGKILL)
    assert engine.ended() == 128 + signal.SIGKILL
    assert "somebody sent it SIGKILL" in engine.outcome["cause"]


def test_a_model_that_is_none_is_the_cause_and_no_restart_is_tried(engine: Engine) -> None:
    broken = engine.folder / "broken.gguf"
    broken.write_bytes(b"no model at all")
    engine.serve("llamacpp", model=str(broken), restart={"policy": "on-failure", "max": 3, "delay": "1s"})
    assert engine.wait(60) == 1
    engine.nothing_is_left()
    outcome = engine.outcome
    assert f"{broken} is no GGUF file" in outcome["cause"]
    assert outcome["failure"] == "model" and outcome["attempts"] == 1
