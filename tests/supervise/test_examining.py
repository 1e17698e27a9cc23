"""What is known of why a start ended, and when a server that is dead inside is no longer waited for."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from launcher.causes.concluding import End
from launcher.model import Readiness
from launcher.supervise.examining import DEAD_FOR, SURVIVED, Examination
from tests import builders

FATAL = b"[E1203 ProcessGroupNCCL.cpp:685] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=42, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"  # noqa: E501


def examination() -> Examination:
    plan = replace(builders.plan(), ready=Readiness(url="http://127.0.0.1:8000/health"))
    return Examination(plan, None)


def test_r090_one_that_said_that_it_is_dead_and_lives_on_is_ended_after_a_while() -> None:
    """vllm-project/vllm#54553: an engine hung in the shutdown of its workers."""
    seen = examination()
    seen.hear(FATAL)
    assert seen.dead_and_there(100.0) == ""
    assert seen.dead_and_there(100.0 + DEAD_FOR - 1) == ""
    assert f"{DEAD_FOR:.0f} s ago and did not end" in seen.dead_and_there(100.0 + DEAD_FOR)


def test_r090_an_ordinary_word_ends_nobody_and_neither_does_one_that_it_survived() -> None:
    seen = examination()
    seen.hear(b"INFO: everything is fine\n")
    assert seen.dead_and_there(0.0) == seen.dead_and_there(10 * DEAD_FOR) == ""
    seen.hear(FATAL)
    assert seen.dead_and_there(0.0) == ""
    seen.is_ready()
    assert seen.dead_and_there(10 * DEAD_FOR) == ""


def test_a_request_that_failed_long_ago_is_not_why_a_ready_server_ends() -> None:
    """Servers log the traceback of a request that they refuse, and go on for days."""
    traceback = b'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: bad request\n'
    causes = []
    for lives_on in (SURVIVED - 1, SURVIVED):
        seen = examination()
        seen.is_ready()
        seen.hear(traceback)
        assert seen.dead_and_there(0.0) == seen.dead_and_there(lives_on) == ""
        seen.conclude(End(wait_status=1 << 8, requested=False, ready=True), set())
        causes.append(seen.conclusion.cause if seen.conclusion else "")
    assert "bad request" in causes[0] and "bad request" not in causes[1]


def test_a_server_that_only_logs_our_own_questions_makes_no_progress() -> None:
    seen = examination()
    seen.hear(b'INFO:     127.0.0.1:4711 - "GET /health HTTP/1.1" 503 Service Unavailable\n')
    assert seen.spoke_at(None) == 0.0
    seen.hear(b"Loading weights\n")
    assert 0.0 < seen.spoke_at(None) <= time.monotonic()


def test_a_bar_that_moves_is_progress() -> None:
    seen = examination()
    first = seen.spoke_at("Loading shards 1/9")
    assert first > 0.0
    assert seen.spoke_at("Loading shards 1/9") == first
    assert seen.spoke_at("Loading shards 2/9") > first


def test_its_words_are_the_cause_that_is_concluded(tmp_path: Path) -> None:
    seen = examination()
    seen.hear(FATAL)
    seen.conclude(End(wait_status=1 << 8, requested=False, ready=True), set())
    assert seen.conclusion is not None
    assert seen.conclusion.failure.value == "hang"
