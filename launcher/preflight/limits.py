"""Are the resource limits high enough? The hard ones: the soft ones are raised to them (see `Plan.limits`)."""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.model import Finding, Limit
from launcher.preflight.moment import Moment

_FILES = 65535  # what vLLM and SGLang try to get themselves (vllm `utils/system_utils.py`, sglang `utils/common.py`)
_LOCKED = 64 << 20  # bytes; InfiniBand registers more than that


def check(moment: Moment) -> Iterator[Finding]:
    """Warnings: a server of few requests does without."""
    limits = {limit.name: limit for limit in moment.plan.limits}
    files, locked = limits.get("NOFILE"), limits.get("MEMLOCK")
    if moment.plan.engine in ("sglang", "vllm") and files is not None and _is_below(files, _FILES):
        yield findings.warning(
            "nofile-low",
            f"At most {files.hard} files may be open at once; {moment.plan.engine} wants {_FILES}.",
            fix="LimitNOFILE=1048576 in the unit, or --ulimit nofile=1048576 for a container.",
        )
    fabric = bool(moment.wanted) and (moment.dev / "infiniband").is_dir()
    if locked is not None and (fabric or "--mlock" in moment.plan.argv) and _is_below(locked, _LOCKED):
        who = "InfiniBand" if fabric else "--mlock"
        yield findings.warning(
            "memlock-low",
            f"At most {locked.hard // 1024} KiB of memory may be locked, and {who} locks more.",
            fix="LimitMEMLOCK=infinity in the unit, or --ulimit memlock=-1 for a container.",
        )


def _is_below(limit: Limit, least: int) -> bool:
    return limit.hard != -1 and limit.hard < least
