"""The life of a server as one table: states x events, a pure `step`, time handed in.

The table stands in ARCHITECTURE.md, and a test compares it with this code, cell by cell. What is not in it changes
nothing. A stop that is asked for while it is ending already changes no state; it is remembered, for the exit code.

Whether there is another start is decided elsewhere (`restarting`), when nothing of the last one is left: that is the
event `again` or `no more`.

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
DUMP = 30.0  # seconds for the stacks of a server that hangs
RELEASE = 60.0  # seconds for output, port and GPU memory; whoever waits for them gives up before that


class State(Enum):
    """Where in its life the server is."""

    STARTING = "starting"
    READY = "ready"
    DUMPING = "dumping"
    STOPPING = "stopping"
    SWEEPING = "sweeping"
    KILLING = "killing"
    RELEASING = "releasing"
    RESTING = "resting"
    DONE = "done"


class Event(Enum):
    """What can happen."""

    READY = "ready"  # it answers
    STUCK = "stuck"  # no progress while it loads, no token while requests run, or dead inside and still there
    DUMPED = "dumped"  # its stacks are in the log, or cannot be had
    LEADER_GONE = "leader gone"
    STOP_ASKED = "stop asked"
    HURRY = "hurry"  # asked for again
    TIME_UP = "time up"
    EMPTY = "empty"  # no process of it is left
    AGAIN = "again"  # port and GPU memory are free, and there is another try
    NO_MORE = "no more"  # they are free, and there is none


class Action(Enum):
    """What is to be done about it."""

    SPAWN = "start"
    SAY_READY = "say ready"
    DUMP_STACKS = "dump stacks"
    SAY_STOPPING = "say stopping"
    TERM_LEADER = "TERM leader"
    TERM_REST = "TERM rest"
    KILL_ALL = "KILL all"
    RELEASE = "await port and GPUs"


@dataclass(frozen=True)
class Times:
    """In seconds. `ready_within` 0: no deadline while it lives. `rest` is the pause before the next try."""

    grace: float
    ready_within: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True)
class Life:
    """One life. `deadline` is when TIME_UP is due (monotonic seconds), None for never."""

    state: State
    deadline: float | None
    was_ready: bool = False
    asked: bool = False  # a stop was asked for while the leader lived, or while the next one was waited for
    asked_after: bool = False  # a stop was asked for when the leader had gone
    too_late: bool = False  # not ready in time
    stuck: bool = False  # ended by us, for it made no progress
    beyond_reach: bool = False  # KILLs did not empty it
    grace_until: float = 0.0
    give_up_at: float = 0.0


Moved = tuple[Life, tuple[Action, ...]]


def begin(times: Times, at: float) -> Moved:
    """The life of a server that is to be started now."""
    return Life(State.STARTING, at + times.ready_within if times.ready_within else None), (Action.SPAWN,)


def step(life: Life, event: Event, times: Times, at: float) -> Moved:
    """What an event makes of a life at a time. Events that mean nothing in a state change nothing."""
    match life.state, event:
        case State.STARTING, Event.READY:
            return replace(life, state=State.READY, was_ready=True, deadline=None), (Action.SAY_READY,)
        case State.STARTING | State.READY, Event.STUCK:
            return replace(life, state=State.DUMPING, stuck=True, deadline=at + DUMP), (Action.DUMP_STACKS,)
        case State.STARTING | State.READY | State.DUMPING, Event.STOP_ASKED:
            return _stop(replace(life, asked=True), times, at)
        case State.STARTING, Event.TIME_UP:
            return _stop(replace(life, too_late=True), times, at)
        case State.DUMPING, Event.DUMPED | Event.TIME_UP:
            return _stop(life, times, at)
        case State.STOPPING, Event.STOP_ASKED:
            return replace(life, asked=True), ()
        case State.SWEEPING | State.KILLING | State.RELEASING, Event.STOP_ASKED:
            return replace(life, asked_after=True), ()
        case State.STARTING | State.READY | State.DUMPING | State.STOPPING, Event.LEADER_GONE:
            return _sweep(life, at)
        case State.STOPPING, Event.TIME_UP:
            return _sweep(life, at) if at >= life.grace_until else _term_again(life, at)
        case State.STOPPING | State.SWEEPING, Event.HURRY:
            return _kill(replace(life, give_up_at=at + GIVE_UP), at)
        case State.SWEEPING, Event.TIME_UP:
            return _kill(replace(life, give_up_at=at + GIVE_UP), at)
        case State.KILLING, Event.TIME_UP:
            return _kill(life, at) if at < life.give_up_at else _release(replace(life, beyond_reach=True), at)
        case State.SWEEPING | State.KILLING, Event.EMPTY:
            return _release(life, at)
        case State.RELEASING, Event.AGAIN:
            return replace(life, state=State.RESTING, deadline=at + times.rest), ()
        case State.RELEASING, Event.HURRY | Event.TIME_UP | Event.NO_MORE:
            return replace(life, state=State.DONE, deadline=None), ()
        case State.RESTING, Event.TIME_UP:
            return begin(times, at)
        case State.RESTING, Event.STOP_ASKED:
            return replace(life, state=State.DONE, deadline=None, asked=True), ()
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


def _release(life: Life, at: float) -> Moved:
    return replace(life, state=State.RELEASING, deadline=at + RELEASE), (Action.RELEASE,)
