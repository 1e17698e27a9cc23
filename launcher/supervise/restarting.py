"""Is there another start after this end, and when? Pure; the supervisor only does what is decided here.

A server that answered once is worth another try; one that never did has the same flag, toolkit or model the next time
(langwatch#6201), unless what it lacked may come back: a GPU (69), a port or GPU memory (75). Two layers that restart
one server multiply (diegosouzapw/OmniRoute#4425), so below a unit of systemd the unit does it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from launcher import errors
from launcher.causes.classes import Failure
from launcher.model import Restarts

LONGEST = 300.0  # seconds between two tries
HEALTHY = 600.0  # seconds of service after which the budget is whole again
_MAY_COME_BACK = (errors.UNAVAILABLE, errors.TRY_AGAIN)
_JITTER = 0.5  # of the pause, at most: servers that fell together must not rise together


def may_come_back(failure: Failure | None) -> int | None:
    """75 where the engine itself found what it needs in other hands; None for anything else."""
    return errors.TRY_AGAIN if failure in (Failure.PORT, Failure.DEVICE_MEMORY) else None


@dataclass(frozen=True)
class Ended:
    """How one try ended, as far as it matters here.

    `code` is our own exit code, None where it is the server's, which may use 75 for purposes of its own. `heals` says
    whether the cause can go away by itself, None where no cause is known. `poisoned`: a cached build is the cause.
    """

    code: int | None
    asked: bool = False
    was_ready: bool = False
    healthy: float = 0.0  # seconds from ready to the end
    heals: bool | None = None
    poisoned: bool = False
    beyond_reach: bool = False


@dataclass(frozen=True)
class History:
    """New starts since the budget was whole, and whether the compile cache was moved aside already."""

    restarts: int = 0
    moved_aside: bool = False


@dataclass(frozen=True)
class Wait:
    """Another try after so many seconds. `history` is what the next decision is made with."""

    seconds: float
    history: History
    move_aside: bool = False


@dataclass(frozen=True)
class GiveUp:
    """No other try. `reason` is a clause, empty where nobody would expect one."""

    reason: str = ""


def decide(ended: Ended, history: History, policy: Restarts, *, chance: float) -> Wait | GiveUp:
    """The decision. `chance` is a random number from 0 to 1."""
    if ended.asked or policy.policy == "never":
        return GiveUp()
    if policy.left_to:
        return GiveUp(policy.left_to)
    if ended.beyond_reach:
        return GiveUp("processes of it are still there")
    if ended.poisoned and history.moved_aside:
        return GiveUp("its compile cache was moved aside already")
    if not ended.poisoned:
        if ended.heals is False:
            return GiveUp("the cause does not go away by itself")
        if not ended.was_ready and ended.code not in _MAY_COME_BACK:
            return GiveUp("it never was ready")
    used = 0 if ended.healthy >= HEALTHY else history.restarts
    if used >= policy.max:
        return GiveUp(f"it was started again {policy.max} times" if policy.max else "restart.max is 0")
    after = replace(history, restarts=used + 1, moved_aside=history.moved_aside or ended.poisoned)
    return Wait(pause(used, policy.delay, chance), after, move_aside=ended.poisoned)


def pause(restarts: int, delay: float, chance: float) -> float:
    """Seconds before the next try after so many: twice as long each time, and up to half as much more by chance."""
    return float(min(LONGEST, delay * 2 ** min(restarts, 32)) * (1 + _JITTER * chance))
