"""A stopped server's GPU memory: "stopped" and the next start come only when it is back, by the stand-in for NVML."""

from __future__ import annotations

import json
import os
import signal
import time
from datetime import datetime

from tests.helpers import eventually
from tests.hostiles import processes
from tests.launching import Launch
from tests.nvml import NEVER, Nvml

LINGERS = 3.0  # seconds


def served(launch: Launch, gpus: Nvml, *, lingers: float, **keys: object) -> int:
    """A ready server that holds memory of GPU 0; the pid that does."""
    pids = launch.folder / "pids"
    launch.start("--pid-file", pids, environ=gpus.environ, **keys).until_ready()
    (server,) = (int(str(entry["pid"])) for entry in processes(pids))
    gpus.holds(server, 40_000, lingers=lingers)
    return server


def events(launch: Launch, name: str) -> list[dict[str, object]]:
    lines = (launch.run_folder / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == name]


def at(event: dict[str, object]) -> float:
    return datetime.fromisoformat(str(event["at"])).timestamp()


def test_r096_r128_stopped_is_said_only_when_the_gpu_memory_is_back(launch: Launch, gpus: Nvml) -> None:
    served(launch, gpus, lingers=LINGERS)
    begin = time.monotonic()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert time.monotonic() - begin >= LINGERS
    assert "not given back" not in launch.errors


def test_without_lingering_memory_a_stop_does_not_wait(launch: Launch, gpus: Nvml) -> None:
    """The control."""
    served(launch, gpus, lingers=0.0)
    begin = time.monotonic()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert time.monotonic() - begin < LINGERS


def test_r128_gpustack_2819_a_restart_comes_only_when_the_gpu_memory_is_back(launch: Launch, gpus: Nvml) -> None:
    once = {"policy": "on-failure", "max": 1, "delay": "0s"}
    server = served(launch, gpus, lingers=LINGERS, restart=once)
    os.kill(server, signal.SIGKILL)
    eventually(lambda: len(events(launch, "started")) == 2, within=30, what="a second start")
    (gone, *_), (_, again) = events(launch, "leader gone"), events(launch, "started")
    assert at(again) - at(gone) >= LINGERS
    launch.signal(signal.SIGTERM).wait()


def test_memory_that_never_comes_back_is_waited_for_within_bounds_and_named(launch: Launch, gpus: Nvml) -> None:
    server = served(launch, gpus, lingers=NEVER)
    begin = time.monotonic()
    launch.signal(signal.SIGTERM)
    launch.wait(40)
    assert 20 <= time.monotonic() - begin < 35
    assert f"40,000 MiB of GPU 0, held by process {server}" in launch.errors
