"""Does the server load the driver's own libcuda.so.1, and every part of cuDNN from one build?"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.libcuda import NAME, UNCACHED, Loaded, every, is_older
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """Only where the loader could be asked."""
    if situation.facts.system_libraries is None:
        return
    found = every(situation.facts, command.env.get("LD_LIBRARY_PATH", ""))
    yield from _older_than_the_kernels(found, situation) if found else _nowhere(situation)
    yield from _unknown_to_the_cache(found, command, situation)
    yield from _cudnn_of_two_builds(situation)


def _older_than_the_kernels(found: list[Loaded], situation: Situation) -> Iterator[Finding]:
    """A libcuda that is newer than the kernel's driver is what compat folders are for."""
    first, driver = found[0], situation.facts.driver
    if driver is None or not is_older(first.version, driver.version):
        return
    right = next((other for other in found if other.version == driver.version), None)
    folder = right.path.rpartition("/")[0] if right else "the folder with the driver's own"
    clean = f"Take {first.path.rpartition('/')[0]} out of /etc/ld.so.conf.d and run ldconfig"
    yield findings.error(
        "libcuda-older-than-driver",
        f"{NAME} is {first.real} (by {first.how}), of driver {first.version}; the kernel's driver is "
        f"{driver.version}: CUDA would end with error 803.",
        fix=f"Take it out of LD_LIBRARY_PATH: {first.path.rpartition('/')[0]}."
        if first.how == "LD_LIBRARY_PATH"
        else f"{clean}, or env: {{set: {{LD_LIBRARY_PATH: {folder}}}}}.",
    )


def _nowhere(situation: Situation) -> Iterator[Finding]:
    """Where GPUs answer, there is a driver: its library only is not seen from here."""
    if situation.facts.gpus:
        yield findings.error(
            "libcuda-missing",
            f"{NAME} is neither in the server's LD_LIBRARY_PATH nor known to the loader, though GPUs are here.",
            fix="sudo ldconfig; in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility.",
        )


def _unknown_to_the_cache(found: list[Loaded], command: Command, situation: Situation) -> Iterator[Finding]:
    """Triton asks `ldconfig -p` alone, unless told (triton-lang/triton#1981): where it is told, all is well."""
    if not found or not situation.has("triton") or any(one.how != UNCACHED for one in found):
        return
    told = command.env.get("TRITON_LIBCUDA_PATH")
    make = findings.note if told else findings.warning
    yield make(
        "libcuda-not-cached",
        f"{found[0].path} is not in the loader's cache, which Triton asks"
        f"{f': it is told by TRITON_LIBCUDA_PATH ({told})' if told else ''}.",
        fix="sudo ldconfig",
    )


def _cudnn_of_two_builds(situation: Situation) -> Iterator[Finding]:
    """A part that the wheel lacks is taken from the system: another build (pytorch/pytorch#188892)."""
    carried = set(situation.target.libraries) if situation.target else set()
    parts = {
        library.name: library.path
        for library in situation.facts.system_libraries or ()
        if library.name.startswith("libcudnn_") and library.name not in carried
    }
    mixed = {name: path for name, path in parts.items() if f"libcudnn{name[name.index('.so') :]}" in carried}
    if mixed:
        python = situation.target.path if situation.target else "python3"
        listed = ", ".join(f"{name} ({path})" for name, path in sorted(mixed.items()))
        wheels = sorted(name for name in situation.packages if name.startswith("nvidia-cudnn-")) or [
            "nvidia-cudnn-cu13"
        ]
        version = situation.version(wheels[0])
        pinned = f"{wheels[0]}=={version}" if version else wheels[0]
        yield findings.warning(
            "cudnn-of-two-builds",
            f"The target's cuDNN{f' {version}' if version else ''} lacks parts that the system has: {listed} would be "
            "loaded beside it.",
            fix=f"{python} -m pip install --force-reinstall --no-deps {pinned}, or remove the system's cuDNN.",
        )
