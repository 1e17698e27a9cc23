"""Does the driver run what torch was built for?

The kernel's, or a newer libcuda of a compat folder that the profile puts into LD_LIBRARY_PATH: the right thing on a
data-center GPU with an older driver, and only there (NVIDIA-NeMo/labs-molt#44).
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import drivers, findings, libcuda
from launcher.architectures import parse_release
from launcher.checks.command import Command
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """By the major release: a 12.2 driver runs any 12.x and no 13.x (eullm/eullm#428)."""
    driver, built = situation.facts.driver, parse_release(situation.torch_cuda)
    if driver is None or built is None:
        return
    counts = libcuda.driver(situation.facts, command.env.get("LD_LIBRARY_PATH", ""))
    oldest = drivers.too_old_for(counts, built[0])
    if oldest is None:
        return
    compat = _compat(situation, built[0])
    other = f", or on data-center GPUs env: {{set: {{LD_LIBRARY_PATH: {compat}}}}}" if compat else ""
    known = f", which knows CUDA up to {driver.cuda}" if driver.cuda else ""
    yield findings.error(
        "driver-too-old",
        f"torch was built for CUDA {situation.torch_cuda}, which needs driver {oldest} or newer; here is "
        f"{driver.version}{known}.",
        fix=f"Update the driver, or install a torch built for CUDA {built[0] - 1}{other}.",
    )


def _compat(situation: Situation, major: int) -> str | None:
    """A toolkit's folder with a libcuda of this major release."""
    for toolkit in situation.facts.toolkits:
        release = parse_release(toolkit.release)
        if release and release[0] == major and "compat" in toolkit.parts:
            return f"{toolkit.root}/compat"
    return None
