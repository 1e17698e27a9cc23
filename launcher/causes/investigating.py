"""All that is looked at for one start of the server, behind one door: made before it starts, asked when it ended.

    inquiry = Inquiry(cgroup)            # before spawn: counters, and the kernel log's end
    inquiry.recogniser.feed(text)        # from the capture
    inquiry.conclude(end, plan, pids)    # after the leader is gone, before the run's cgroup is removed
    inquiry.close()

Nothing in here waits or raises.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from launcher.causes.concluding import Conclusion, End, Evidence, conclude
from launcher.causes.evidence import oom
from launcher.causes.evidence.kernel_log import KernelLog
from launcher.causes.kernel_words import Xid, same_bus, victims, xids
from launcher.causes.recognising import Recogniser
from launcher.model import Plan


class Inquiry:
    """One start. `cgroup`: the run's own, if there is one."""

    def __init__(self, cgroup: Path | None = None) -> None:
        self.recogniser = Recogniser()
        self._counters = oom.snapshot(cgroup)
        self._log = KernelLog()
        self._said: list[str] = []

    def evidence(self, plan: Plan, pids: Collection[int]) -> Evidence:
        """What the kernel knows. `pids`: all that ever were the server's, in the numbers of our own pid namespace."""
        self._said += self._log.new()
        return gathered(self._said, oom.since(self._counters), plan, pids)

    def conclude(self, end: End, plan: Plan, pids: Collection[int]) -> Conclusion | None:
        """Why it ended; None for an end that was asked for, or one of which nothing is known but its status."""
        recogniser = self.recogniser
        return conclude(
            end, recogniser.first(), self.evidence(plan, pids), plan=plan, exception=recogniser.first_exception
        )

    def close(self) -> None:
        """Lets the kernel log go."""
        self._log.close()


def gathered(lines: Iterable[str], oom_kills: int | None, plan: Plan, pids: Collection[int]) -> Evidence:
    """Of the kernel's words those about our processes and our GPUs. Pure.

    A machine has other servers: a GPU that is not ours counts only where it cannot be told which are.
    """
    lines = tuple(lines)
    return Evidence(
        oom_kills=oom_kills,
        victims=tuple(victim for victim in victims(lines) if victim.pid in pids),
        xids=tuple(xid for xid in xids(lines) if _is_ours(xid, plan, pids)),
    )


def _is_ours(xid: Xid, plan: Plan, pids: Collection[int]) -> bool:
    buses = [gpu.bus_id for gpu in plan.gpus or () if gpu.bus_id]
    if xid.pid is not None and xid.pid in pids:
        return True
    if not buses:
        return xid.pid is None
    # The other user of a shared GPU may have failed in his own way; what names nobody hits everybody.
    return any(same_bus(bus, xid.bus) for bus in buses) and xid.pid is None
