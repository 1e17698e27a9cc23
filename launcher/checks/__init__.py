"""Questions asked of a plan while it is made: one file each, and the table of them.

To add one: a module with `check`, one line in `CHECKS`, one test file. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from launcher.checks import (
    build_tools,
    caches,
    driver,
    flashinfer_packages,
    gpus,
    libcuda,
    model,
    native,
    open_door,
    port,
    program,
    requirements,
    target,
    torch_build,
    unknowns,
)
from launcher.checks.command import Command
from launcher.model import Finding
from launcher.situation import Situation

Check = Callable[[Situation, Command], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    target.check,
    program.check,
    requirements.check,
    driver.check,
    torch_build.check,
    libcuda.check,
    gpus.check,
    build_tools.check,
    native.check,
    flashinfer_packages.check,
    caches.check,
    model.check,
    port.check,
    open_door.check,
    unknowns.check,
)
