"""What the last moment before a start costs: claims, each check of `launcher/preflight`, and the look at earlier runs.

Median of eleven in milliseconds, wall and own processor time, for a server of the command engine on this machine with
all its processes. It grows with their number: everybody's mark is read.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from launcher import instances, leftovers
from launcher.cli import starting, story
from launcher.preflight import CHECKS
from launcher.preflight.moment import Moment

ROUNDS = 11
PROFILE = {
    "schema": 1,
    "name": "benchmark",
    "engine": "command",
    "command": ["python3", "-m", "http.server", "18123"],
    "ready": {"url": "http://127.0.0.1:18123/"},
}

Times = list[tuple[float, float]]
_Result = TypeVar("_Result")


def main() -> int:
    """Prints a line for each step; never fails for a slow machine."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder, "benchmark.yaml")
        profile.write_text(json.dumps(PROFILE), encoding="utf-8")
        profile.chmod(0o600)
        here = story.here()
        made = story.planned(story.Wish(profile=str(profile)), here)
        wanted = starting.wanted(made.plan, made.asked.profile, None)
        who = instances.claimant("benchmark", "benchmark", "00000000")
        moment = Moment(plan=made.plan, profile=made.asked.profile, facts=made.facts)
        taken: dict[str, Times] = {}
        for _ in range(ROUNDS):
            with claimed(taken, here, who, wanted):
                for check in CHECKS:
                    timed(taken, check.__module__.rpartition(".")[2], lambda check=check: list(check(moment)))
                timed(taken, "earlier runs", lambda: list(leftovers.at_start(here.places)))
    print(f"{sum(name.isdigit() for name in os.listdir('/proc'))} processes; milliseconds (own processor time)")
    for name, times in taken.items():
        wall, own = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"{name:14} {wall:6.2f} ({own:.2f})")
    return 0


def claimed(
    taken: dict[str, Times], here: story.Here, who: instances.Claimant, wanted: tuple[instances.Resource, ...]
) -> instances.Claim:
    """As a launch takes them."""
    return timed(taken, "claims", lambda: starting.claim(here.places, who, wanted, take_over=False, say=print))


def timed(taken: dict[str, Times], name: str, work: Callable[[], _Result]) -> _Result:
    """What the work returns."""
    begin, own = time.perf_counter(), time.process_time()
    result = work()
    taken.setdefault(name, []).append(((time.perf_counter() - begin) * 1e3, (time.process_time() - own) * 1e3))
    return result


if __name__ == "__main__":
    raise SystemExit(main())
