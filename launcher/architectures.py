"""Which CUDA release knows which compute capability. Data and comparisons; pure.

First releases were read off real assemblers (ptxas 12.8.93, 12.9.86, nvcc 13.0.88, 13.5.37) for 10.0 and above, and
off the PTX ISA's release history below. `nvcc --list-gpu-arch` is no source: it never lists the `a` and `f` targets.
"""

from __future__ import annotations

Release = tuple[int, int]

# compute capability -> (first release for the plain target, for the `a` target, for the `f` target)
FIRST_RELEASES: dict[str, tuple[Release, Release | None, Release | None]] = {
    "7.5": ((10, 0), None, None),
    "8.0": ((11, 0), None, None),
    "8.6": ((11, 1), None, None),
    "8.7": ((11, 4), None, None),
    "8.9": ((11, 8), None, None),
    "9.0": ((11, 8), (12, 0), None),
    "10.0": ((12, 8), (12, 8), (12, 9)),
    "10.3": ((12, 9), (12, 9), (12, 9)),
    "10.7": ((13, 4), (13, 4), (13, 4)),
    "11.0": ((13, 0), (13, 0), (13, 0)),
    "12.0": ((12, 8), (12, 8), (12, 9)),
    "12.1": ((12, 9), (12, 9), (12, 9)),
}


def parse_release(text: str | None) -> Release | None:
    """ "12.8" or "12.8.93" to (12, 8); None for None or anything else."""
    parts = (text or "").split(".")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    return int(parts[0]), int(parts[1])


def show(release: Release) -> str:
    """(12, 8) to "12.8"."""
    return f"{release[0]}.{release[1]}"


def first_release(capability: str, suffix: str = "") -> Release | None:
    """The first CUDA release that knows a target; None for a capability or suffix that the table does not hold."""
    plain, exact, family = FIRST_RELEASES.get(capability, (None, None, None))
    return {"": plain, "a": exact, "f": family}[suffix]


def order(capability: str) -> tuple[int, int]:
    """Sort key of a compute capability: 9.0 before 10.0."""
    return parse_release(capability) or (0, 0)
