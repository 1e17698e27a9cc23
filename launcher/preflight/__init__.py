"""The last moment before a start: the machine is asked once more, in milliseconds, for what may have changed.

One file for each question, and the table of them. To add one: a module with `check`, one line in `CHECKS`, codes in
`launcher/explanations/preflight.py`, one test file. What the facts tell is asked by `launcher.checks`; here is asked
what is true only now, or only for this user: ports, memory, devices, permissions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from launcher.model import Finding
from launcher.preflight import (
    devices,
    driver,
    gpu_memory,
    limits,
    model_path,
    ports,
    shared_memory,
    startable,
)
from launcher.preflight.moment import Moment

CHECKS: tuple[Callable[[Moment], Iterator[Finding]], ...] = (
    startable.check,
    model_path.check,
    ports.check,
    driver.check,
    devices.check,
    gpu_memory.check,
    shared_memory.check,
    limits.check,
)


def last_moment(moment: Moment) -> tuple[Finding, ...]:
    """What every check finds."""
    return tuple(finding for check in CHECKS for finding in check(moment))
