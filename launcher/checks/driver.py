"""Does the kernel driver run what torch was built for?"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import drivers, findings
from launcher.architectures import parse_release
from launcher.checks.command import Command
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """By the major release: a 12.2 driver runs any 12.x and no 13.x (eullm/eullm#428)."""
    driver, built = situation.facts.driver, parse_release(situation.torch_cuda)
    if driver is None or built is None:
        return
    oldest = drivers.too_old_for(driver.version, built[0])
    if oldest is None:
        return
    known = f", which knows CUDA up to {driver.cuda}" if driver.cuda else ""
    yield findings.error(
        "driver-too-old",
        f"torch was built for CUDA {situation.torch_cuda}, which needs driver {oldest} or newer; here is "
        f"{driver.version}{known}.",
        fix=f"Update the driver, or install a torch built for CUDA {built[0] - 1}.",
    )
