"""The life of a server as one table: states x events, a pure `step`, time handed in.

| state \\ event | ready | leader gone | stop asked | hurry | time up | empty |
|---|---|---|---|---|---|---|
| STARTING | READY | SWEEPING: TERM to the rest | STOPPING: TERM to the leader | - | STOPPING (too late) | - |
| READY | - | SWEEPING: TERM to the rest | STOPPING: TERM to the leader | - | - | - |
| STOPPING | - | SWEEPING: TERM to the rest | - | KILLING: KILL to all | TERM to the leader again, or SWEEPING | - |
| SWEEPING | - | - | - | KILLING: KILL to all | KILLING: KILL to all | DONE |
| KILLING | - | - | - | - | KILL to all again, at last DONE | DONE |
| DONE | - | - | - | - | - | - |

A stop that is asked for while it is ending already changes no state; it is remembered, for the exit code.

The leader is signalled first and alone: sglang's main process drains, but its schedulers have no handler, so a TERM to
the whole group would kill them in the middle of a drain. One TERM, for a second one cuts a drain short; but while the
server is not ready the TERM is repeated, for vLLM loses one then. Nobody else is signalled before the leader is gone or
its grace is over (NVIDIA/TensorRT-LLM#16404).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

REPEAT_TERM = 5.0  # seconds between TERMs to a leader that is not ready yet
LAST_TERM = 3.0  # seconds between TERM and KILL for what the leader left
REPEAT_KILL = 1.0  # seconds between KILLs: a process may have forked in between
GIVE_UP = 30.0  # seconds of KILLs after which a process is beyond reach (uninterruptible sleep)


class State(Enum):
    """Where in its life the server is."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    SWEEPING = "sweeping"
    KILLING = "killing"
    DONE = "done"


class Event(Enum):
    """What can happen."""

    READY = "ready"
    LEADER_GONE = "leader gone"
    STOP_ASKED = "stop asked"
    HURRY = "hurry"
    TIME_UP = "time up"
    EMPTY = "empty"


class Action(Enum):
    """What is to be done about it."""

    SAY_READY = "say ready"
    SAY_STOPPING = "say stopping"
    TERM_LEADER = "TERM to the leader"
    TERM_REST = "TERM to what is left"
    KILL_ALL = "KILL to all"


@dataclass(frozen=True)
class Times:
    """The profile's times in seconds. `ready_within` 0: no deadline while it lives."""

    grace: float
    ready_within: float = 0.0


@dataclass(frozen=True)
class Life:
    """One life. `deadline` is when TIME_UP is due (monotonic seconds), None for never."""

    state: State
    deadline: float | None
    was_ready: bool = False
    asked: bool = False  # a stop was asked for while the leader lived
    asked_after: bool = False  # a stop was asked for when the leader had gone
    too_late: bool = False  # not ready in time
    beyond_reach: bool = False  # KILLs did not empty it
    grace_until: float = 0.0
    give_up_at: float = 0.0


Moved = tuple[Life, tuple[Action, ...]]


def born(times: Times, at: float) -> Life:
    """The life of a server that has just been started and will be asked whether it is ready."""
    return Life(State.STARTING, at + times.ready_within if times.ready_within else None)


def born_ready() -> Life:
    """The life of a server that nobody asks (`ready: none`): it counts as ready from exec on."""
    return Life(State.READY, None, was_ready=True)


def step(life: Life, event: Event, times: Times, at: float) -> Moved:
    """What an event makes of a life at a time. Events that mean nothing in a state change nothing."""
    match life.state, event:
        case State.STARTING, Event.READY:
            return replace(life, state=State.READY, was_ready=True, deadline=None), (Action.SAY_READY,)
        case State.STARTING | State.READY, Event.STOP_ASKED:
            return _stop(replace(life, asked=True), times, at)
        case State.STOPPING, Event.STOP_ASKED:
            return replace(life, asked=True), ()
        case State.SWEEPING | State.KILLING, Event.STOP_ASKED:
            return replace(life, asked_after=True), ()
        case State.STARTING, Event.TIME_UP:
            return _stop(replace(life, too_late=True), times, at)
        case State.STARTING | State.READY | State.STOPPING, Event.LEADER_GONE:
            return _sweep(life, at)
        case State.STOPPING, Event.TIME_UP:
            return _sweep(life, at) if at >= life.grace_until else _term_again(life, at)
        case State.STOPPING | State.SWEEPING, Event.HURRY:
            return _kill(replace(life, give_up_at=at + GIVE_UP), at)
        case State.SWEEPING, Event.TIME_UP:
            return _kill(replace(life, give_up_at=at + GIVE_UP), at)
        case State.KILLING, Event.TIME_UP:
            if at >= life.give_up_at:
                return replace(life, state=State.DONE, deadline=None, beyond_reach=True), ()
            return _kill(life, at)
        case State.SWEEPING | State.KILLING, Event.EMPTY:
            return replace(life, state=State.DONE, deadline=None), ()
    return life, ()


def _stop(life: Life, times: Times, at: float) -> Moved:
    until = at + times.grace
    due = until if life.was_ready else min(until, at + REPEAT_TERM)
    stopping = replace(life, state=State.STOPPING, grace_until=until, deadline=due)
    return stopping, (Action.SAY_STOPPING, Action.TERM_LEADER)


def _term_again(life: Life, at: float) -> Moved:
    return replace(life, deadline=min(life.grace_until, at + REPEAT_TERM)), (Action.TERM_LEADER,)


def _sweep(life: Life, at: float) -> Moved:
    return replace(life, state=State.SWEEPING, deadline=at + LAST_TERM), (Action.TERM_REST,)


def _kill(life: Life, at: float) -> Moved:
    return replace(life, state=State.KILLING, deadline=at + REPEAT_KILL), (Action.KILL_ALL,)
