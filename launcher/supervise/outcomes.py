"""How a life ended, as an exit code and a sentence. Pure.

An unasked exit 0 is a failure (vllm-project/vllm#48966: the API server exits 0 when a worker dies), an asked-for end is
a success whatever the child returned (JustVugg/colibri#810). A stop that is asked for when the leader has gone excuses
nothing (a late TERM hid that crash too), unless that very signal ended the leader: then somebody signalled us all, and
the leader's turn came first.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass

from launcher import errors
from launcher.model import Finding, Readiness
from launcher.supervise.lifecycle import Life

# What we return after a stop by this signal; TERM is how services are stopped.
STOP_CODES = {
    "SIGTERM": errors.OK,
    "SIGINT": 128 + signal.SIGINT,
    "SIGHUP": 128 + signal.SIGHUP,
    "SIGQUIT": 128 + signal.SIGQUIT,
}


@dataclass(frozen=True)
class Ending:
    """Exit code, cause as a sentence, whose code it is, and whether the end was asked for."""

    exit_code: int
    cause: str
    of_child: bool = False
    asked: bool = False


def describe_child(wait_status: int | None) -> str:
    """ "exit 3", "signal 9 (SIGKILL)", "still running"."""
    if wait_status is None:
        return "still running"
    code = _exit_code(wait_status)
    if code >= 0:
        return f"exit {code}"
    return f"signal {-code} ({_name(-code)})"


def not_started(finding: Finding) -> Ending:
    """The ending of what could not even be started."""
    return Ending(finding.exit_code, f"{finding.message} {finding.fix}")


def judge(
    life: Life, wait_status: int | None, stopped_by: str | None, stuck: str = "", why: str | None = None
) -> Ending:
    """The ending of a life: asked for, ended by us, or unasked.

    `stopped_by` is the name of the first signal to us, `stuck` what we ended it for, `why` what is known of the cause.
    """
    child = describe_child(wait_status)
    code = _exit_code(wait_status or 0)
    to_us_all = life.asked_after and code < 0 and _name(-code) == stopped_by
    if stopped_by is not None and (life.asked or to_us_all):
        cause = f"stopped by {stopped_by}; the server ended with {child}"
        return Ending(STOP_CODES[stopped_by], cause, asked=True)
    if life.too_late:
        return Ending(errors.OUT_OF_TIME, f"{stuck or 'the server was not ready in time'}; it was stopped")
    if life.stuck:
        return Ending(errors.OUT_OF_TIME, f"{stuck}; the server was stopped")
    when = "after it was ready" if life.was_ready else "before it was ready"
    because = f": {why}" if why else ""
    if code == 0:
        return Ending(errors.FAILED, f"the server ended with exit 0 {when}, though nobody asked it to{because}")
    if code > 0:
        return Ending(code, f"the server ended with {child} {when}{because}", of_child=True)
    return Ending(128 - code, f"the server was ended by {child} {when}{because}", of_child=True)


def too_late(life: Life, ready: Readiness | None, heard: str) -> str:
    """Why it is not waited for any longer, with what was `heard` last; empty where that is not so."""
    if not life.too_late or ready is None:
        return ""
    return f"the server was not ready within {ready.timeout:g} s: {ready.url} {heard}"


def _exit_code(wait_status: int) -> int:
    """Like os.waitstatus_to_exitcode, which is not on every platform that can read this module."""
    number = wait_status & 0x7F
    return -number if number else (wait_status >> 8) & 0xFF


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unnamed"
