"""Real vLLM, an API server with an EngineCore and a Worker below it, through every end that it can take."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.hostiles import health
from tests.vllm.engine import BEYOND_GRACE, Engine

API_KEY = "sk-planted-0123456789abcdef"
HUB_TOKEN = "hf_PlantedPlantedPlantedPlanted123"
CORE, WORKER = "VLLM::EngineCor", "VLLM::Worker"  # the kernel keeps 15 letters of a title


def test_it_serves_and_sigterm_ends_it_with_0_and_no_secret_was_written(engine: Engine) -> None:
    """HF_TOKEN comes with the environment, the key in the profile and, as a second one, after --."""
    engine.serve(
        "vllm", "--api-key", f"{API_KEY}-2", args={"api-key": API_KEY}, environ={"HF_TOKEN": HUB_TOKEN},
        ready={"generate": True}, live={"stall": "20s"},
    )  # fmt: skip
    engine.served(key=f"{API_KEY}-2")
    server = Path(f"/proc/{engine.leader}")
    assert HUB_TOKEN.encode() in (server / "environ").read_bytes(), "the server has it"
    assert API_KEY.encode() in (server / "cmdline").read_bytes()
    engine.signal(signal.SIGTERM)
    assert engine.ended() == 0
    assert engine.outcome["ready"] and engine.outcome["requested"]
    assert b"Starting vLLM server" in engine.log and b"Application shutdown complete" in engine.log
    assert b"\x1b" not in engine.log
    for name, text in engine.written().items():
        assert API_KEY not in text and HUB_TOKEN not in text, name


def test_sigterm_before_engine_core_is_there_ends_it_with_0(engine: Engine) -> None:
    """R080: a stop works while the server imports its libraries; vLLM answers with an exit code of its own."""
    engine.serve("vllm")
    engine.until_output(r"version 0\.32\.0")
    engine.signal(signal.SIGTERM)
    assert engine.ended() == 0
    assert not engine.outcome["ready"] and engine.outcome["requested"]


def test_r080_sigterm_while_engine_core_loads_is_not_lost_and_leaves_no_worker(engine: Engine) -> None:
    """vLLM loses the first one then and becomes healthy: it is repeated until it is heard."""
    engine.serve("vllm")
    engine.part(CORE)
    engine.signal(signal.SIGTERM)
    assert engine.ended() == 0
    assert not engine.outcome["ready"] and engine.outcome["requested"]


@pytest.mark.parametrize(("title", "who"), [(CORE, "engine core"), (WORKER, "Worker proc")])
def test_r087_the_death_of_a_part_is_a_failure_though_the_api_server_exits_with_0(
    engine: Engine, title: str, who: str
) -> None:
    engine.serve("vllm").served()
    os.kill(engine.part(title).pid, signal.SIGKILL)
    assert engine.ended() == 1
    outcome = engine.outcome
    assert outcome["child"] == "exit 0" and not outcome["requested"]
    assert f"exit 0 after it was ready, though nobody asked it to: vLLM's {who} ended without" in outcome["cause"]
    assert outcome["failure"] == "crash"


def test_r079_r124_the_death_of_the_api_server_leaves_no_engine_core_and_no_worker(engine: Engine) -> None:
    engine.serve("vllm").served()
    core, worker = engine.part(CORE), engine.part(WORKER)
    os.kill(engine.leader, signal.SIGKILL)
    assert engine.ended() == 128 + signal.SIGKILL
    assert "ended by signal 9 (SIGKILL) after it was ready" in engine.outcome["cause"]
    for process in (core, worker):
        assert f"{process.pid} (VLLM::" in engine.errors, "what it left behind is named"


def test_the_death_of_gpulaunch_leaves_no_engine_core_and_no_worker(engine: Engine) -> None:
    engine.serve("vllm").served()
    engine.part(CORE), engine.part(WORKER)
    engine.signal(signal.SIGKILL)
    engine.wait()
    assert engine.corral.wait_empty(engine.grace_seconds + BEYOND_GRACE) == []
    engine.nothing_is_left()
    engine.remove_locks()


def test_r091_a_worker_that_stands_still_is_found_though_health_stays_200(engine: Engine) -> None:
    """The counters say that requests run and no token comes. Idle for longer than that, the server was left in peace.

    It must stand still in the middle of a request: vLLM counts what runs when a step is done (0.32.0).
    """
    engine.serve("vllm", live={"stall": "10s"}).served()
    started = engine.complete()["created"]
    eventually(lambda: engine.complete()["created"] - started > 11, within=60, what="it is not taken for stuck")
    worker = engine.part(WORKER).pid
    with engine.asked_without_end():
        eventually(lambda: engine.hangs_in_a_request(worker), within=60)
        assert health(engine.port) == 200
        assert engine.wait(120) == 124
    engine.nothing_is_left()
    assert "and no token came for" in engine.outcome["cause"]
