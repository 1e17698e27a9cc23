"""Are the kernel's driver and its libraries of one version?

After an update without a reboot they are not, and in a container they are not after the host's update: NVML and CUDA
then refuse every call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from launcher import findings
from launcher.model import Finding
from launcher.preflight.moment import Moment

_KERNEL_MODULE = re.compile(r"Kernel Module.*?\s(?P<version>[0-9]+\.[0-9.]+)\s")
_IN_NAME = re.compile(r"libnvidia-ml\.so\.(?P<version>[0-9]+\.[0-9.]+)$")


def check(moment: Moment) -> Iterator[Finding]:
    """69. NVML's own word counts most; where it cannot be asked, the two versions are compared."""
    kernel, library = _kernel(moment), _library(moment)
    if kernel is None and not moment.asks_for_gpus:
        return
    differ = kernel is not None and library is not None and kernel != library
    if not moment.looked.mismatch and not (differ and moment.looked.gpus is None):
        return
    known = f"the kernel module is {kernel or 'unknown'}, the library {library or 'of another version'}"
    yield findings.error(
        "driver-mismatch",
        f"The driver's kernel module and its libraries are of two versions ({known}): nothing that uses a GPU works.",
        fix="Reboot, or reload the nvidia kernel modules; a container is started anew.",
    )


def _kernel(moment: Moment) -> str | None:
    try:
        text = (moment.proc / "driver/nvidia/version").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = _KERNEL_MODULE.search(text)
    return match["version"] if match else None


def _library(moment: Moment) -> str | None:
    for library in moment.facts.system_libraries or ():
        match = _IN_NAME.search(library.real)
        if match:
            return match["version"]
    return None
