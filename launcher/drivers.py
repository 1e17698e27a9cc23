"""Which driver a CUDA release needs at least. Data and one comparison; pure.

NVIDIA's minor-version compatibility: any 12.x runs from driver 525.60.13 on, any 13.x from 580 on; a newer driver runs
older releases (CUDA release notes, table of minimum driver versions).
"""

from __future__ import annotations

import re

# major CUDA release -> oldest Linux driver
OLDEST: dict[int, tuple[int, ...]] = {11: (450, 80, 2), 12: (525, 60, 13), 13: (580,)}


def parse(version: str | None) -> tuple[int, ...] | None:
    """ "580.95.05" to (580, 95, 5); None for None or anything else."""
    if version is None or not re.fullmatch(r"[0-9]+(\.[0-9]+)*", version):
        return None
    return tuple(int(part) for part in version.split("."))


def too_old_for(version: str | None, major: int) -> str | None:
    """The oldest driver that runs this major release, where `version` is older; None where it suits or is not known."""
    driver, oldest = parse(version), OLDEST.get(major)
    if driver is None or oldest is None or driver >= oldest:
        return None
    return ".".join(f"{part:02}" if position else str(part) for position, part in enumerate(oldest))
