"""Every cell of the table in `launcher.supervise.lifecycle`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.supervise.lifecycle import (
    GIVE_UP,
    LAST_TERM,
    REPEAT_TERM,
    Action,
    Event,
    Life,
    State,
    Times,
    born,
    born_ready,
    step,
)

TIMES = Times(grace=30.0)
NOW = 100.0
STAY: tuple[Action, ...] = ()

ROWS = {
    (State.STARTING, Event.READY): (State.READY, (Action.SAY_READY,)),
    (State.STARTING, Event.LEADER_GONE): (State.SWEEPING, (Action.TERM_REST,)),
    (State.STARTING, Event.STOP_ASKED): (State.STOPPING, (Action.SAY_STOPPING, Action.TERM_LEADER)),
    (State.STARTING, Event.TIME_UP): (State.STOPPING, (Action.SAY_STOPPING, Action.TERM_LEADER)),
    (State.READY, Event.LEADER_GONE): (State.SWEEPING, (Action.TERM_REST,)),
    (State.READY, Event.STOP_ASKED): (State.STOPPING, (Action.SAY_STOPPING, Action.TERM_LEADER)),
    (State.STOPPING, Event.LEADER_GONE): (State.SWEEPING, (Action.TERM_REST,)),
    (State.STOPPING, Event.HURRY): (State.KILLING, (Action.KILL_ALL,)),
    (State.STOPPING, Event.TIME_UP): (State.SWEEPING, (Action.TERM_REST,)),
    (State.SWEEPING, Event.HURRY): (State.KILLING, (Action.KILL_ALL,)),
    (State.SWEEPING, Event.TIME_UP): (State.KILLING, (Action.KILL_ALL,)),
    (State.SWEEPING, Event.EMPTY): (State.DONE, STAY),
    (State.KILLING, Event.TIME_UP): (State.DONE, STAY),
    (State.KILLING, Event.EMPTY): (State.DONE, STAY),
}


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_every_cell(state: State, event: Event) -> None:
    life = Life(state, deadline=None)
    after, actions = step(life, event, TIMES, NOW)
    assert (after.state, actions) == ROWS.get((state, event), (state, STAY))


def test_a_ready_server_is_asked_once_and_has_its_whole_grace() -> None:
    life, _ = step(born(TIMES, 0.0), Event.READY, TIMES, 10.0)
    life, _ = step(life, Event.STOP_ASKED, TIMES, NOW)
    assert life.deadline == NOW + TIMES.grace


def test_a_loading_server_is_asked_again_until_its_grace_is_over() -> None:
    life, _ = step(born(TIMES, 0.0), Event.STOP_ASKED, TIMES, NOW)
    sent = 1
    while life.state is State.STOPPING:
        assert life.deadline is not None
        life, actions = step(life, Event.TIME_UP, TIMES, life.deadline)
        sent += Action.TERM_LEADER in actions
    assert sent == TIMES.grace / REPEAT_TERM
    assert life.state is State.SWEEPING
    assert life.deadline == NOW + TIMES.grace + LAST_TERM


def test_what_cannot_be_killed_is_given_up_at_last_and_said() -> None:
    life, _ = step(Life(State.SWEEPING, NOW), Event.TIME_UP, TIMES, NOW)
    while life.state is State.KILLING:
        assert life.deadline is not None
        life, _ = step(life, Event.TIME_UP, TIMES, life.deadline)
    assert life.beyond_reach


def test_readiness_has_no_deadline_unless_the_profile_says_so() -> None:
    assert born(TIMES, NOW).deadline is None
    life = born(Times(grace=30.0, ready_within=60.0), NOW)
    assert life.deadline == NOW + 60.0
    assert step(life, Event.TIME_UP, TIMES, NOW + 60.0)[0].too_late


def test_a_server_that_nobody_asks_is_ready_from_the_start() -> None:
    life, actions = step(born_ready(), Event.STOP_ASKED, TIMES, NOW)
    assert life.was_ready
    assert life.deadline == NOW + TIMES.grace
    assert actions == (Action.SAY_STOPPING, Action.TERM_LEADER)


@given(st.lists(st.sampled_from(Event), max_size=30))
def test_no_order_of_events_kills_before_a_stop_or_a_death(events: list[Event]) -> None:
    life, at, excused = born(TIMES, 0.0), 0.0, False
    for event in events:
        at += GIVE_UP
        excused = excused or event in (Event.STOP_ASKED, Event.LEADER_GONE, Event.TIME_UP)
        life, actions = step(life, event, TIMES, at)
        assert excused or not {Action.TERM_LEADER, Action.TERM_REST, Action.KILL_ALL} & set(actions)
