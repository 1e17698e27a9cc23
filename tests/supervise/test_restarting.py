"""Whether there is another start: a table of endings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.model import Restarts
from launcher.supervise.restarting import HEALTHY, LONGEST, Ended, GiveUp, History, Wait, decide, pause

AGAIN = Restarts(policy="on-failure", max=3, delay=2.0)
CRASH = Ended(code=None, was_ready=True, healthy=5.0)


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (Ended(code=0, asked=True, was_ready=True), ""),
        (Ended(code=None), "never was ready"),
        (Ended(code=124), "never was ready"),
        (Ended(code=127), "never was ready"),
        (Ended(code=None, was_ready=True, heals=False), "does not go away by itself"),
        (Ended(code=75, heals=False), "does not go away by itself"),
        (Ended(code=None, was_ready=True, beyond_reach=True), "still there"),
    ],
)
def test_an_end_that_another_start_cannot_help(ended: Ended, words: str) -> None:
    decision = decide(ended, History(), AGAIN, chance=0.0)
    assert isinstance(decision, GiveUp)
    assert words in decision.reason


@pytest.mark.parametrize(
    "ended",
    [CRASH, Ended(code=1, was_ready=True), Ended(code=124, was_ready=True), Ended(code=69), Ended(code=75),
     Ended(code=None, was_ready=True, heals=True)],
)  # fmt: skip
def test_an_end_that_another_start_may_help(ended: Ended) -> None:
    assert decide(ended, History(), AGAIN, chance=0.0) == Wait(2.0, History(restarts=1))


def test_the_servers_own_75_is_not_ours() -> None:
    assert isinstance(decide(Ended(code=None), History(), AGAIN, chance=0.0), GiveUp)


def test_never_is_the_default() -> None:
    assert decide(CRASH, History(), Restarts(), chance=0.0) == GiveUp()


def test_r098_below_systemd_the_unit_restarts_and_nobody_else() -> None:
    """diegosouzapw/OmniRoute#4425: two layers of restarts multiplied."""
    left = Restarts(policy="on-failure", left_to="the unit of systemd does it")
    assert decide(CRASH, History(), left, chance=0.0) == GiveUp("the unit of systemd does it")
    assert isinstance(decide(CRASH, History(), AGAIN, chance=0.0), Wait)


def test_r100_one_that_died_before_it_was_ready_is_not_tried_again() -> None:
    """langwatch#6201, #6203."""
    assert isinstance(decide(Ended(code=None, was_ready=False), History(), AGAIN, chance=0.0), GiveUp)
    assert isinstance(decide(Ended(code=None, was_ready=True), History(), AGAIN, chance=0.0), Wait)


def test_the_budget_ends() -> None:
    history, seconds = History(), []
    while isinstance(decision := decide(CRASH, history, AGAIN, chance=0.0), Wait):
        history = decision.history
        seconds.append(decision.seconds)
    assert seconds == [2.0, 4.0, 8.0]
    assert "3 times" in decision.reason


def test_the_budget_is_whole_again_after_a_long_service() -> None:
    used = History(restarts=3)
    served = Ended(code=None, was_ready=True, healthy=HEALTHY)
    assert decide(served, used, AGAIN, chance=0.0) == Wait(2.0, History(restarts=1))
    assert isinstance(decide(CRASH, used, AGAIN, chance=0.0), GiveUp)


def test_a_poisoned_cache_is_moved_aside_once_also_before_it_was_ever_ready() -> None:
    poisoned = Ended(code=None, heals=False, poisoned=True)
    decision = decide(poisoned, History(), AGAIN, chance=0.0)
    assert decision == Wait(2.0, History(restarts=1, moved_aside=True), move_aside=True)
    assert isinstance(decide(poisoned, decision.history, AGAIN, chance=0.0), GiveUp)


def test_no_budget_at_all() -> None:
    assert isinstance(decide(CRASH, History(), Restarts(policy="on-failure", max=0), chance=0.0), GiveUp)


@given(st.integers(0, 10_000), st.floats(0, 1e6), st.floats(0, 1))
def test_r099_a_pause_grows_and_has_a_bound(restarts: int, delay: float, chance: float) -> None:
    """rfjakob/earlyoom#378: tries without growing pauses were used up in 1.5 s."""
    assert pause(restarts, delay, chance) <= pause(restarts + 1, delay, chance) <= LONGEST * 1.5
