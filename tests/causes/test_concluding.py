"""One cause for an end, the strongest evidence first."""

from __future__ import annotations

import signal

import pytest

from launcher.causes import xids
from launcher.causes.classes import Failure
from launcher.causes.concluding import Conclusion, End, Evidence, conclude
from launcher.causes.kernel_words import Victim, Xid
from launcher.causes.recognising import Recognised, Recogniser

KILLED, EXIT_1, EXIT_0 = int(signal.SIGKILL), 1 << 8, 0
SAID = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
LOST = Xid("0000:41:00", 79, None, "")


def said(text: str) -> Recognised | None:
    recogniser = Recogniser()
    recogniser.feed(text)
    return recogniser.first()


def concluded(
    status: int | None,
    text: str = "",
    evidence: Evidence | None = None,
    killed: str | None = None,
    exception: str | None = None,
) -> Conclusion:
    end = End(wait_status=status, requested=False, ready=True, killed_because=killed)
    made = conclude(end, said(text), evidence or Evidence(), exception=exception)
    assert made is not None
    return made


def test_an_end_that_was_asked_for_has_no_cause() -> None:
    end = End(wait_status=EXIT_1, requested=True, ready=True)
    assert conclude(end, said(SAID), Evidence(oom_kills=1)) is None


def test_r089_137_is_out_of_memory_only_where_the_kernel_says_so() -> None:
    """R089 sglang: a plain crash ends as 137, too."""
    counted = concluded(KILLED, evidence=Evidence(oom_kills=1))
    named = concluded(KILLED, evidence=Evidence(victims=(Victim(7, "python3"),)))
    assert counted.failure is named.failure is Failure.HOST_MEMORY
    assert "7 (python3)" in named.cause
    itself = concluded(KILLED, SAID, Evidence(oom_kills=0))
    assert "ended itself with SIGKILL" in itself.cause and itself.failure is Failure.MEMORY
    nobody = concluded(KILLED, evidence=Evidence(oom_kills=0))
    assert "somebody sent it SIGKILL; the kernel counted no lack of memory" in nobody.cause
    assert "could not be told" in concluded(KILLED).cause


def test_our_own_kill_is_said_as_ours() -> None:
    made = concluded(KILLED, killed="no token for 300 s")
    assert made.cause == "gpulaunch ended it with SIGKILL: no token for 300 s"
    assert made.failure is Failure.HANG
    with_cause = concluded(KILLED, SAID, killed="no token for 300 s")
    assert with_cause.failure is Failure.MEMORY and "gpulaunch ended it" in with_cause.cause


def test_a_worker_that_was_killed_for_memory_explains_an_exit_0() -> None:
    made = concluded(EXIT_0, "RuntimeError: Ninja build failed. Ninja output:\n", Evidence(oom_kills=2))
    assert made.failure is Failure.HOST_MEMORY


def test_a_gpu_that_fell_off_the_bus_beats_what_was_said_after_it() -> None:
    made = concluded(EXIT_1, "RuntimeError: CUDA error: unspecified launch failure\n", Evidence(xids=(LOST,)))
    assert made.failure is Failure.DEVICE
    assert "Xid 79 for GPU 0000:41:00: the GPU has fallen off the bus" in made.cause
    assert concluded(EXIT_1, "RuntimeError: CUDA error: unspecified launch failure\n").failure is Failure.CRASH


def test_a_lesser_xid_is_added_to_the_engines_own_words() -> None:
    made = concluded(
        EXIT_1,
        "RuntimeError: CUDA error: an illegal memory access was encountered\n",
        Evidence(xids=(Xid("1", 31, 7, ""),)),
    )
    assert made.failure is Failure.CRASH and "Xid 31" in made.cause


@pytest.mark.parametrize("number", xids.MEANINGS)
def test_every_known_xid_says_what_to_do(number: int) -> None:
    known = xids.meaning(number)
    assert known.meaning and known.fix.endswith(".")


def test_without_a_known_text_the_first_exception_is_the_cause() -> None:
    assert concluded(EXIT_1, exception="KeyError: 7").cause == "its first exception was KeyError: 7"


def test_a_signal_that_says_nothing_more_is_named() -> None:
    assert concluded(int(signal.SIGSEGV) | 0x80).cause.startswith("it ended by SIGSEGV: native code")
    assert concluded(int(signal.SIGTERM)).cause == "it ended by SIGTERM, which somebody sent it"
    end = End(wait_status=EXIT_1, requested=False, ready=False)
    assert conclude(end, None, Evidence()) is None
