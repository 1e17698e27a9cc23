"""How a server ended: one cause, one fix, one class, made of what is known. Pure.

Evidence is weighed, never guessed. 137 is "out of memory" only where the kernel counted or named it; the engine's own
SIGKILL, ours and a stranger's are told apart. A GPU that failed beats everything that was said after it.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass

from launcher.causes import founding, xids
from launcher.causes.classes import Failure, can_heal
from launcher.causes.kernel_words import Victim, Xid
from launcher.causes.recognising import Recognised
from launcher.causes.signatures import Kind
from launcher.model import Plan

_LONGEST = 300  # characters of an exception
_FAULTS = {
    signal.SIGSEGV: "native code read or wrote where it must not",
    signal.SIGBUS: "a file or shared memory that it had mapped was cut off, or /dev/shm is full",
    signal.SIGABRT: "native code gave up",
    signal.SIGILL: "it was built for another processor",
    signal.SIGFPE: "native code divided by zero",
}


@dataclass(frozen=True, kw_only=True)
class End:
    """How the leader ended. `wait_status` as from waitpid, None: it lives. `killed_because`: why we sent SIGKILL, as a
    phrase ("it hung: no token for 300 s"); None: we did not.
    """

    wait_status: int | None
    requested: bool
    ready: bool
    killed_because: str | None = None
    too_late: bool = False  # that was because it was not ready in time


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the kernel knows. `oom_kills`: processes of our cgroup that it ended for want of memory; None: could not
    tell. `victims`: those that its log names and that were ours. `xids`: errors of GPUs meanwhile; of ours alone, where
    it is known which are ours.
    """

    oom_kills: int | None = None
    victims: tuple[Victim, ...] = ()
    xids: tuple[Xid, ...] = ()

    @property
    def out_of_memory(self) -> bool | None:
        """None: could not tell."""
        return True if self.victims or self.oom_kills else (None if self.oom_kills is None else False)


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """Cause (a phrase without a full stop), what to do (a sentence), and the class, which decides on a restart."""

    cause: str
    fix: str
    failure: Failure

    @property
    def can_heal(self) -> bool:
        """True if the same command may work the next time."""
        return can_heal(self.failure)

    @property
    def poisoned(self) -> bool:
        """True if a cache of compiled kernels is to blame: moved aside, a restart heals."""
        return self.failure is Failure.CACHE


def conclude(
    end: End,
    recognised: Recognised | None,
    evidence: Evidence,
    *,
    plan: Plan | None = None,
    exception: str | None = None,
) -> Conclusion | None:
    """The conclusion, the strongest evidence first; None for an end that was asked for.

    `recognised` and `exception` are the Recogniser's `first()` and `first_exception`.
    """
    if end.requested:
        return None
    return (
        _of_the_gpu(evidence)
        or _of_its_own_words(end, recognised, evidence, plan, (Kind.ROOT,))
        or _of_memory(evidence)
        or _ours(end)
        or _of_its_own_words(end, recognised, evidence, plan, (Kind.HINT,))
        or _of_an_exception(end, exception)
        or _of_its_own_words(end, recognised, evidence, plan, (Kind.WRAPPER,))
        or _of_the_status(end, evidence)
    )


def _of_the_gpu(evidence: Evidence) -> Conclusion | None:
    for xid in evidence.xids:
        known = xids.meaning(xid.number)
        if known.grave:
            return Conclusion(cause=_xid(xid), fix=known.fix, failure=Failure.DEVICE)
    return None


def _of_its_own_words(
    end: End, recognised: Recognised | None, evidence: Evidence, plan: Plan | None, kinds: tuple[Kind, ...]
) -> Conclusion | None:
    if recognised is None or recognised.kind not in kinds:
        return None
    cause, fix = recognised.cause, recognised.fix
    if recognised.code == founding.CODE and plan is not None:
        cause, fix = founding.explanation(plan), founding.fix(plan)
    if recognised.kind is not Kind.WRAPPER and recognised.ranks:
        cause += f" (said by {', '.join(recognised.ranks[:4])}{' and more' if len(recognised.ranks) > 4 else ''})"
    if end.killed_because is not None:
        cause += f"; gpulaunch ended it with SIGKILL: {end.killed_because}"
    elif _signal(end) == signal.SIGKILL and evidence.out_of_memory is not True:
        # SGLang: kill_process_tree(os.getpid()) when a scheduler has failed.
        cause += "; the server then ended itself with SIGKILL"
    if evidence.xids:
        cause += f"; {_xid(evidence.xids[0])}"
    return Conclusion(cause=cause, fix=fix, failure=recognised.failure)


def _of_memory(evidence: Evidence) -> Conclusion | None:
    if evidence.out_of_memory is not True:
        return None
    who = ", ".join(f"{victim.pid} ({victim.name})" for victim in evidence.victims)
    return Conclusion(
        cause=f"main memory ran out and the kernel's OOM killer ended {who or 'a process of the server'}",
        fix="Give the server more memory (MemoryMax=, the container's limit), or lower MAX_JOBS, swap-space and "
        "cpu-offload-gb.",
        failure=Failure.HOST_MEMORY,
    )


_STOOD = "Look at its last lines; the stacks in the log show where it stood, if py-spy is installed."
_TOO_LATE = (
    "Check ready.path or ready.url against what the server serves, or give it more time: ready.timeout, 0 for as long "
    "as it makes progress."
)


def _ours(end: End) -> Conclusion | None:
    if end.killed_because is None:
        return None
    return Conclusion(
        cause=f"gpulaunch ended it with SIGKILL: {end.killed_because}",
        fix=_TOO_LATE if end.too_late else _STOOD,
        failure=Failure.HANG,
    )


def _of_an_exception(end: End, exception: str | None) -> Conclusion | None:
    if exception is None:
        return None
    said = exception if len(exception) <= _LONGEST else f"{exception[:_LONGEST]}..."
    cause = f"its first exception was {said}"
    if _signal(end) == signal.SIGKILL:
        cause += "; the server then ended itself with SIGKILL"
    return Conclusion(cause=cause, fix="The log has the whole traceback: the first one counts.", failure=Failure.CRASH)


def _of_the_status(end: End, evidence: Evidence) -> Conclusion | None:
    """Nothing but the status, and perhaps a lesser word of the driver's."""
    number = _signal(end)
    if evidence.xids:
        xid = evidence.xids[0]
        return Conclusion(cause=_xid(xid), fix=xids.meaning(xid.number).fix, failure=Failure.DEVICE)
    if number == signal.SIGKILL:
        memory = (
            "the kernel counted no lack of memory"
            if evidence.out_of_memory is False
            else "whether for want of memory could not be told"
        )
        return Conclusion(
            cause=f"somebody sent it SIGKILL; {memory}",
            fix="The kernel's log names processes that were ended for want of memory: journalctl -k | grep -i oom.",
            failure=Failure.CRASH,
        )
    if number is not None:
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        why = _FAULTS.get(signal.Signals(number)) if number in set(signal.Signals) else None
        return Conclusion(
            cause=f"it ended by {name}{f': {why}' if why else ', which somebody sent it'}",
            fix="Set PYTHONFAULTHANDLER=1 (env.set) for a stack at such an end." if why else "Ask who signals it.",
            failure=Failure.CRASH,
        )
    return None


def _xid(xid: Xid) -> str:
    return f"the driver reported Xid {xid.number} for GPU {xid.bus}: {xids.meaning(xid.number).meaning}"


def _signal(end: End) -> int | None:
    """The number of the signal that ended it."""
    number = (end.wait_status or 0) & 0x7F
    return number or None
