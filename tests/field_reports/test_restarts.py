"""Field reports on what follows an end: another start, or none, and what nobody may leave behind in between."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from tests.helpers import eventually
from tests.hostiles import hostile
from tests.launching import Launch

QUICK = {"policy": "on-failure", "delay": "1s", "max": 2}
SLOW = {"policy": "on-failure", "delay": "60s"}


def events(launch: Launch, name: str) -> list[dict[str, Any]]:
    """The events of the latest run that are called so."""
    lines = (launch.run_folder / "events.jsonl").read_text().splitlines()
    return [event for line in lines if (event := json.loads(line))["event"] == name]


def crash(launch: Launch, number: int, *, again: bool) -> None:
    """Ends the server of the so-many-th start, once it is ready, by the file that its --exit-on-file names."""
    eventually(lambda: launch.errors.count("gpulaunch: ready:") == number, within=30)
    end = launch.folder / "end"
    end.touch()
    if again:
        eventually(lambda: launch.errors.count("starting again in") == number, within=30)
        end.unlink()


def test_r100_one_that_answered_is_started_again_until_its_budget_is_used(launch: Launch) -> None:
    """langwatch#6201."""
    launch.start("--exit", 7, "--exit-on-file", launch.folder / "end", "--say", "hello", restart=QUICK)
    crash(launch, 1, again=True)
    crash(launch, 2, again=True)
    crash(launch, 3, again=False)
    assert launch.wait() == 7
    assert launch.outcome["attempts"] == 3
    assert len(events(launch, "started")) == len(events(launch, "ready")) == 3
    assert launch.log.count(b"hello") == 3  # one log, kept after restarts
    assert "not started again: it was started again 2 times" in launch.errors
    assert launch.corral.survivors() == []


def test_r100_one_that_never_answered_is_not(launch: Launch) -> None:
    launch.start("--exit", 7, restart=QUICK)
    assert launch.wait() == 7
    assert launch.outcome["attempts"] == 1
    assert "not started again: it never was ready" in launch.errors


def test_r087_an_unasked_exit_0_is_a_failure_and_starts_it_again(launch: Launch) -> None:
    """vllm-project/vllm#48966."""
    launch.start("--exit", 0, "--exit-on-file", launch.folder / "end", restart={**QUICK, "max": 1})
    crash(launch, 1, again=True)
    crash(launch, 2, again=False)
    assert launch.wait() == 1
    assert launch.outcome["attempts"] == 2


def test_r088_an_asked_for_end_is_a_success_and_starts_nothing(launch: Launch) -> None:
    """JustVugg/colibri#810: exit 1 on TERM left the unit failed."""
    launch.start("--term-exit", 1, restart=QUICK).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert launch.outcome["attempts"] == 1


def test_r098_below_a_unit_there_is_no_second_layer_of_restarts(launch: Launch) -> None:
    """diegosouzapw/OmniRoute#4425; the control is the first test here."""
    unit = {"NOTIFY_SOCKET": str(launch.folder / "nobody")}
    launch.start("--exit", 7, "--exit-on-file", launch.folder / "end", restart=QUICK, environ=unit)
    crash(launch, 1, again=False)
    assert launch.wait() == 7
    assert launch.outcome["attempts"] == 1
    assert "left to the unit" in launch.errors


def test_r174_a_new_start_comes_only_when_nothing_of_the_last_one_is_left(launch: Launch) -> None:
    """circus#998: the parent's exit was taken for the end of all."""
    flags = ("--worker", "--worker-ignores-term", "--double-fork")
    launch.start("--exit", 7, "--exit-on-file", launch.folder / "end", *flags, restart={**QUICK, "max": 1})
    crash(launch, 1, again=True)
    crash(launch, 2, again=False)
    assert launch.wait() == 7
    assert launch.outcome["attempts"] == 2
    assert launch.outcome["swept"] == 2
    assert launch.corral.survivors() == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_r170_a_stop_while_the_next_start_is_waited_for_is_done_at_once(launch: Launch, number: int, code: int) -> None:
    """llama-swap#155: what happens between two states."""
    launch.start("--exit", 7, "--exit-on-file", launch.folder / "end", restart=SLOW)
    crash(launch, 1, again=True)
    assert launch.signal(number).wait(5) == code
    assert launch.outcome["requested"]


def test_a_port_that_somebody_took_meanwhile_is_tried_again_and_named(launch: Launch) -> None:
    """75 may come back; the other holder is never waited for in vain."""
    launch.start("--exit", 7, "--exit-on-file", launch.folder / "end", restart={**QUICK, "delay": "2s"})
    crash(launch, 1, again=True)
    launch.corral.spawn(hostile("--port", launch.port))
    eventually(lambda: "is taken by process" in launch.errors)
    assert launch.wait(40) == 75
    assert launch.outcome["child"] == "not started"
