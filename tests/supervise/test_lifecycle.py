"""Every cell of the table in `launcher.supervise.lifecycle`, which stands in ARCHITECTURE.md."""

from __future__ import annotations

import re
from pathlib import Path

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
    begin,
    step,
)

TIMES = Times(grace=30.0, rest=2.0)
NOW = 100.0
STAY: tuple[Action, ...] = ()
ARCHITECTURE = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")


def rows(first: str) -> list[list[str]]:
    """The cells of the table in ARCHITECTURE.md whose first line begins so."""
    begins = ARCHITECTURE.index(first)
    block = re.match(r"(\|.*\n)+", ARCHITECTURE[begins:])
    assert block
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block[0].splitlines()]
    return [lines[0], *lines[2:]]


def drawn() -> dict[tuple[State, Event], set[State]]:
    """What the table says: to which states a cell leads."""
    head, *body = rows("| | STARTING")
    cells: dict[tuple[State, Event], set[State]] = {}
    for row in body:
        for name, cell in zip(head[1:], row[1:], strict=True):
            cells[State[name], Event(row[0])] = {State[word] for word in cell.split(" or ") if word}
    return cells


DRAWN = drawn()
# What a life may remember about times, so that a cell with two answers gives both.
MEMORIES = [(0.0, 0.0), (NOW + 60, NOW + 60)]


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_every_cell_is_as_drawn(state: State, event: Event) -> None:
    seen = set()
    for grace_until, give_up_at in MEMORIES:
        life = Life(state, deadline=None, grace_until=grace_until, give_up_at=give_up_at)
        after, actions = step(life, event, TIMES, NOW)
        if after.state is not state or actions:
            seen.add(after.state)
    assert seen == DRAWN.get((state, event), set())


def test_the_drawing_has_every_state_and_every_event() -> None:
    assert {state for state, _ in DRAWN} == set(State) - {State.DONE}
    assert {event for _, event in DRAWN} == set(Event)


@pytest.mark.parametrize("state", State)
def test_what_is_done_on_the_way_to_a_state_is_as_drawn(state: State) -> None:
    legend = {State[name]: text for name, text in rows("| on the way to")[1:]}
    for (before, event), targets in DRAWN.items():
        if state in targets and before is not state:
            past = NOW + 60 if state is State.STOPPING else 0.0
            _, actions = step(Life(before, None, grace_until=past), event, TIMES, NOW)
            said = legend.get(state, "").split(" (")[0]
            assert ", ".join(action.value for action in actions) == said


def test_a_ready_server_is_asked_once_and_has_its_whole_grace() -> None:
    life, _ = step(begin(TIMES, 0.0)[0], Event.READY, TIMES, 10.0)
    life, _ = step(life, Event.STOP_ASKED, TIMES, NOW)
    assert life.deadline == NOW + TIMES.grace


def test_a_loading_server_is_asked_again_until_its_grace_is_over() -> None:
    life, actions = step(begin(TIMES, 0.0)[0], Event.STOP_ASKED, TIMES, NOW)
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
    assert begin(TIMES, NOW)[0].deadline is None
    times = Times(grace=30.0, ready_within=60.0)
    life, _ = begin(times, NOW)
    assert life.deadline == NOW + 60.0
    assert step(life, Event.TIME_UP, times, NOW + 60.0)[0].too_late


def test_a_server_that_hangs_is_stopped_also_when_its_stacks_cannot_be_had() -> None:
    life, _ = step(Life(State.READY, None, was_ready=True), Event.STUCK, TIMES, NOW)
    assert life.stuck
    assert life.deadline is not None
    stopping, actions = step(life, Event.TIME_UP, TIMES, life.deadline)
    assert (stopping.state, Action.TERM_LEADER in actions) == (State.STOPPING, True)


def test_the_next_start_is_a_new_life_after_the_pause() -> None:
    life, _ = step(Life(State.RELEASING, None, was_ready=True, stuck=True), Event.AGAIN, TIMES, NOW)
    assert life.deadline == NOW + TIMES.rest
    assert step(life, Event.TIME_UP, TIMES, NOW + TIMES.rest) == begin(TIMES, NOW + TIMES.rest)


def test_a_stop_while_the_next_start_is_waited_for_is_an_asked_for_end() -> None:
    life, actions = step(Life(State.RESTING, NOW + 2), Event.STOP_ASKED, TIMES, NOW)
    assert (life.state, life.asked, actions) == (State.DONE, True, STAY)


@given(st.lists(st.sampled_from(Event), max_size=30))
def test_no_order_of_events_kills_before_a_stop_or_a_death(events: list[Event]) -> None:
    at, excused = 0.0, False
    life, _ = begin(TIMES, at)
    for event in events:
        at += GIVE_UP
        excused = excused or event in (Event.STOP_ASKED, Event.LEADER_GONE, Event.TIME_UP, Event.STUCK)
        life, actions = step(life, event, TIMES, at)
        assert excused or not {Action.TERM_LEADER, Action.TERM_REST, Action.KILL_ALL} & set(actions)


@given(st.lists(st.sampled_from(Event), max_size=30))
def test_no_order_of_events_starts_another_one_while_one_may_live(events: list[Event]) -> None:
    """Nor without waiting for what it held."""
    at, released = 0.0, False
    life, _ = begin(TIMES, at)
    for event in events:
        at += GIVE_UP
        life, actions = step(life, event, TIMES, at)
        assert Action.SPAWN not in actions or released
        released = (released or Action.RELEASE in actions) and Action.SPAWN not in actions
