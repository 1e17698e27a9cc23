"""Every stable code of a finding with its exit code and what `gpulaunch explain CODE` says: one file per area.

To add a code: one entry in the file of its area. Pure data.
"""

from __future__ import annotations

from launcher.explanations import (
    caches,
    carrying_out,
    command_line,
    doctor,
    driver,
    facts,
    planning,
    preflight,
    profile,
    provisioning,
)
from launcher.explanations.entry import Explanation

AREAS = (profile, facts, planning, carrying_out, command_line, doctor, provisioning, caches, driver, preflight)

CATALOGUE: dict[str, Explanation] = {code: entry for area in AREAS for code, entry in area.EXPLANATIONS.items()}
