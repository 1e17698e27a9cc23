"""Exit codes tell the truth: whose end it was, and whether anybody asked for it."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from launcher.supervise.lifecycle import Event, Life, State, Times, begin, step
from launcher.supervise.outcomes import Ending, describe_child, judge

TIMES = Times(grace=30.0, ready_within=60.0)


def exited(code: int) -> int:
    """A wait status."""
    return code << 8


def life(*events: Event) -> Life:
    """A life in which these things happened."""
    lived, _ = begin(TIMES, 0.0)
    for event in events:
        lived, _ = step(lived, event, TIMES, 0.0)
    return lived


LOADING, READY = life(Event.LEADER_GONE), life(Event.READY, Event.LEADER_GONE)
ASKED = life(Event.READY, Event.STOP_ASKED, Event.LEADER_GONE)
ASKED_AFTER = life(Event.READY, Event.LEADER_GONE, Event.STOP_ASKED)


@pytest.mark.parametrize("status", [exited(0), exited(1), exited(143), signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 0), ("SIGINT", 130), ("SIGHUP", 129), ("SIGQUIT", 131)])
def test_an_asked_for_end_has_the_code_of_the_asking_whatever_the_child_returned(
    status: int, name: str, code: int
) -> None:
    ending = judge(ASKED, status, name)
    assert (ending.exit_code, ending.asked, ending.of_child) == (code, True, False)


@pytest.mark.parametrize(
    ("lived", "status", "code", "of_child", "words"),
    [
        (READY, exited(0), 1, False, "exit 0 after it was ready, though nobody asked"),
        (LOADING, exited(0), 1, False, "exit 0 before it was ready"),
        (READY, exited(78), 78, True, "exit 78 after"),
        (LOADING, signal.SIGKILL, 137, True, "signal 9 (SIGKILL) before"),
        (READY, signal.SIGTERM, 143, True, "signal 15 (SIGTERM) after"),
        (READY, signal.SIGSEGV | 0x80, 139, True, "SIGSEGV"),
        (READY, 64, 192, True, "signal 64"),
    ],
)
def test_an_unasked_end_is_a_failure_with_the_childs_own_code(
    lived: Life, status: int, code: int, of_child: bool, words: str
) -> None:
    ending = judge(lived, status, None)
    assert (ending.exit_code, ending.of_child, ending.asked) == (code, of_child, False)
    assert words in ending.cause


def test_a_stop_that_is_asked_for_after_a_crash_does_not_hide_it() -> None:
    """vllm-project/vllm#48966 (R087): a late SIGTERM of the supervisor hid it too."""
    assert judge(ASKED_AFTER, exited(0), "SIGTERM").exit_code == 1
    assert judge(ASKED_AFTER, exited(3), "SIGINT").exit_code == 3


def test_a_signal_to_all_of_us_that_reached_the_leader_first_is_an_asked_for_end() -> None:
    assert judge(ASKED_AFTER, signal.SIGTERM, "SIGTERM") == replace(judge(ASKED, signal.SIGTERM, "SIGTERM"))
    assert judge(ASKED_AFTER, signal.SIGKILL, "SIGTERM").exit_code == 137


def test_one_that_was_not_ready_in_time_is_124() -> None:
    lived = life(Event.TIME_UP, Event.LEADER_GONE)
    assert lived.state is State.SWEEPING
    assert judge(lived, exited(0), None) == Ending(124, "the server was not ready in time; it was stopped")


def test_one_that_we_ended_because_it_was_stuck_says_why() -> None:
    lived = life(Event.READY, Event.STUCK, Event.DUMPED, Event.LEADER_GONE)
    ending = judge(lived, signal.SIGTERM, None, "2 requests run, and no token came for 300 s")
    assert ending == Ending(124, "2 requests run, and no token came for 300 s; the server was stopped")
    assert judge(life(Event.READY, Event.STUCK, Event.STOP_ASKED), signal.SIGTERM, "SIGINT", "hung").exit_code == 130


@pytest.mark.parametrize(
    ("status", "text"), [(None, "still running"), (exited(3), "exit 3"), (9, "signal 9 (SIGKILL)"), (64, "signal 64")]
)
def test_a_childs_end_in_words(status: int | None, text: str) -> None:
    assert describe_child(status).startswith(text)
