"""Transformers' own server: when it is ready, how it ends, and what its log holds."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from tests.hostiles import health
from tests.vllm.engine import Engine

HUB_TOKEN = "hf_PlantedPlantedPlantedPlanted123"


def test_it_is_ready_with_its_model_loaded_and_a_stop_is_0_though_it_dies_of_the_signal(engine: Engine) -> None:
    """R088: uvicorn raises the SIGTERM again when it has drained; a planned stop is no failure."""
    engine.serve("transformers", ready={"generate": True}, environ={"HF_TOKEN": HUB_TOKEN}).served()
    assert HUB_TOKEN.encode() in Path(f"/proc/{engine.leader}/environ").read_bytes(), "the server has it"
    engine.signal(signal.SIGTERM)
    assert engine.ended() == 0
    assert engine.outcome["child"] == "signal 15 (SIGTERM)" and engine.outcome["requested"]
    for words in (b"Uvicorn running on http://127.0.0.1", b"GET /health", b"Application shutdown complete"):
        assert words in engine.log
    assert b"\x1b" not in engine.log
    for name, text in engine.written().items():
        assert HUB_TOKEN not in text, name


def test_its_port_can_be_used_by_the_next_one_right_after_the_stop(engine: Engine) -> None:
    for _ in range(2):
        engine.serve("transformers").served()
        engine.signal(signal.SIGINT)
        assert engine.ended() == 128 + signal.SIGINT


def test_nothing_answers_while_it_loads_and_a_stop_works_then(engine: Engine) -> None:
    engine.serve("transformers")
    assert engine.leader
    assert health(engine.port) is None
    engine.signal(signal.SIGTERM)
    assert engine.ended() == 0
    assert not engine.outcome["ready"]


@pytest.mark.parametrize(
    ("flags", "model", "code", "why"),
    [
        (("--no-such-flag",), None, 2, "does not know --no-such-flag"),
        ((), "nobody/nowhere", 1, "the model is not in the cache"),
    ],
    ids=["a bad flag", "a model that is not cached"],
)
def test_its_own_exit_code_is_ours_and_its_reason_is_shown(
    engine: Engine, flags: tuple[str, ...], model: str | None, code: int, why: str
) -> None:
    engine.serve("transformers", *flags, model=model)
    assert engine.wait(120) == code
    engine.nothing_is_left()
    assert engine.outcome["origin"] == "child" and not engine.outcome["ready"]
    assert why in engine.outcome["cause"]


def test_a_taken_port_is_told_before_it_loads_anything(engine: Engine) -> None:
    """By itself it loads the model for seconds and then ends with 3."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", engine.port))
        holder.listen()
        engine.serve("transformers")
        assert engine.wait() == 75
    assert f"Port {engine.port} on 127.0.0.1 is taken by process" in engine.errors
