"""Field reports on readiness and hangs: ready means that it answers, alive means that it works."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.hostiles import health
from tests.launching import Launch


def test_r103_a_server_that_loads_longer_than_any_bound_is_waited_for_while_it_speaks(launch: Launch) -> None:
    """vllm-project/vime#90, llama-swap#92: fixed deadlines ended servers that would have been fine."""
    talk = ("--load", 4, "--progress-lines", 40)
    launch.start(*talk, ready={"stall": "2s"}).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_r103_without_any_progress_it_is_stopped_with_124(launch: Launch) -> None:
    launch.start("--ready-after-file", launch.folder / "never", ready={"stall": "1s"})
    assert launch.wait() == 124
    assert "no progress while it loads" in launch.outcome["cause"]
    assert launch.corral.survivors() == []


def test_r101_without_a_stall_in_the_profile_no_watchdog_ends_a_silent_load(launch: Launch) -> None:
    """sgl-project/sglang#8232: a watchdog ended a server during a long compile. Ours is off unless asked for."""
    gate = launch.folder / "gate"
    launch.start("--load", 3, "--ready-after-file", gate)
    gate.touch()
    launch.until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_r080_a_server_that_is_not_ready_in_time_is_gone_with_its_workers(launch: Launch) -> None:
    """vllm-project/vllm#44751: the timeout fired while it warmed up, and workers stayed behind."""
    flags = ("--ready-after-file", launch.folder / "never", "--worker", "--worker-ignores-term")
    launch.start(*flags, ready={"timeout": "1s"})
    assert launch.wait() == 124
    assert launch.corral.survivors() == []


def test_r080_one_that_is_ready_in_time_stays(launch: Launch) -> None:
    launch.start("--worker", ready={"timeout": "20s"}).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0


@pytest.mark.parametrize("how", ["errs", "hangs"])
def test_r091_a_health_that_lies_is_not_ready_where_a_token_is_asked_for(launch: Launch, how: str) -> None:
    """vllm-project/vllm#11996: 200 in front of a dead engine."""
    launch.start("--generate", how, ready={"generate": True, "timeout": "3s"})
    assert launch.wait() == 124
    assert "gpulaunch: ready:" not in launch.errors
    assert ("status 500" in launch.errors) == (how == "errs")


def test_r091_a_server_that_gives_a_token_is_ready(launch: Launch) -> None:
    launch.start(ready={"generate": True}).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0


LIVE = {"stall": "1s"}


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_r091_requests_that_run_without_a_token_are_a_hang(launch: Launch, engine: str) -> None:
    """vllm-project/vllm#39863, #16259: stalled with queued requests, and /health was fine."""
    stall = launch.folder / "stall"
    launch.start("--metrics", engine, "--requests", 2, "--stall-file", stall, live=LIVE).until_ready()
    assert health(launch.port) == 200
    stall.touch()
    assert launch.wait() == 124
    assert "2 requests run or wait, and no token came" in launch.outcome["cause"]
    assert launch.corral.survivors() == []


def test_r091_idle_is_no_hang_and_neither_is_work(launch: Launch) -> None:
    launch.start("--metrics", "vllm", live=LIVE).until_ready()
    with pytest.raises(TimeoutError):
        launch_ends(launch, 3)
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_r091_requests_that_run_with_tokens_are_no_hang(launch: Launch) -> None:
    launch.start("--metrics", "sglang", "--requests", 2, live=LIVE).until_ready()
    with pytest.raises(TimeoutError):
        launch_ends(launch, 3)
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_r091_without_counters_nobody_judges_and_that_is_said_once(launch: Launch) -> None:
    launch.start(live=LIVE).until_ready().until("could not tell whether the server hangs")
    with pytest.raises(TimeoutError):
        launch_ends(launch, 2)
    assert launch.errors.count("could not tell whether the server hangs") == 1
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_an_idle_server_that_gives_no_token_hangs_where_one_is_asked_for(launch: Launch) -> None:
    launch.start("--metrics", "vllm", "--generate", "hangs", live={"stall": "1s", "generate": True}).until_ready()
    assert launch.wait() == 124
    assert "idle, it gave no token within 1 s" in launch.outcome["cause"]


def launch_ends(launch: Launch, within: float) -> None:
    """Raises TimeoutError if it is still there after so many seconds."""
    assert launch.process is not None
    try:
        launch.process.wait(within)
    except subprocess.TimeoutExpired:
        raise TimeoutError from None


def py_spy(folder: Path) -> str:
    """A folder with a py-spy that tells what it was asked."""
    program = folder / "bin/py-spy"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "stack of $*"\n')
    program.chmod(0o755)
    return str(program.parent)


@pytest.mark.parametrize("there", [True, False])
def test_r101_before_a_server_that_hangs_is_ended_its_stacks_go_to_the_log(launch: Launch, there: bool) -> None:
    """sgl-project/sglang#8232: py-spy was missing, and the dump failed. Without it that is said."""
    stall = launch.folder / "stall"
    path = {"path": [py_spy(launch.folder)]} if there else {}
    launch.start("--metrics", "vllm", "--requests", 1, "--stall-file", stall, live=LIVE, env=path).until_ready()
    stall.touch()
    assert launch.wait() == 124
    assert (b"stack of dump --pid" in launch.log) is there
    assert (b"no stacks: py-spy is neither" in launch.log) is not there


def test_r080_the_last_answer_says_why_it_was_not_taken_for_ready(launch: Launch) -> None:
    """A path that the server does not have: its answer, and what mends it, not who signals it."""
    url = f"http://127.0.0.1:{launch.port}/nowhere"
    launch.start(ready={"url": url, "timeout": "2s"})
    assert launch.wait() == 124
    assert f"not ready within 2 s: {url} answers 404; it was stopped" in launch.outcome["cause"]
    assert "ready.path or ready.url" in launch.outcome["fix"]
