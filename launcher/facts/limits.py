"""Our resource limits, which a child inherits."""

from __future__ import annotations

from launcher.model import Limit

NAMES = ("NOFILE", "MEMLOCK", "NPROC", "CORE", "STACK")


def look() -> tuple[Limit, ...]:
    """Soft and hard limits by name; -1 is unlimited. Empty where the platform has none."""
    try:
        import resource
    except ImportError:
        return ()
    limits = []
    for name in NAMES:
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            soft, hard = resource.getrlimit(number)
            limits.append(Limit(name=name, soft=_plain(soft), hard=_plain(hard)))
    return tuple(limits)


def _plain(value: int) -> int:
    import resource

    return -1 if value == resource.RLIM_INFINITY else value
