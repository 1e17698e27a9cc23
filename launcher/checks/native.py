"""Do compiled modules in the target find the CUDA libraries that they need, of torch's own major release?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from launcher import findings
from launcher.architectures import parse_release
from launcher.checks.command import Command
from launcher.model import Finding, NativeModule
from launcher.situation import Situation

# Libraries whose number is CUDA's major release.
_NUMBERED = re.compile(r"lib(?:cudart|nvrtc|nvJitLink|cublas|cublasLt)\.so\.([0-9]+)")
# Which wheel brings one, without the suffix -cu12 that CUDA 12's have.
_WHEELS = {
    "cudart": "nvidia-cuda-runtime", "nvrtc": "nvidia-cuda-nvrtc", "nvJitLink": "nvidia-nvjitlink",
    "cublas": "nvidia-cublas", "cublasLt": "nvidia-cublas",
}  # fmt: skip


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """A module for another CUDA than torch's does not load; a library that is nowhere is not found."""
    for module in situation.facts.modules:
        yield from _of_another_major(module, situation)
        yield from _missing(module, situation)


def _of_another_major(module: NativeModule, situation: Situation) -> Iterator[Finding]:
    built = parse_release(situation.torch_cuda)
    majors = {int(match[1]) for name in module.needs if (match := _NUMBERED.fullmatch(name))}
    if built is None or not majors or built[0] in majors:
        return
    of = ", ".join(str(major) for major in sorted(majors))
    yield findings.warning(
        "built-for-another-cuda",
        f"{_called(module, situation)} was built for CUDA {of}, torch for {situation.torch_cuda}: {module.file} needs "
        f"{', '.join(name for name in module.needs if _NUMBERED.fullmatch(name))}.",
        fix=f"Install the build of {module.package} for CUDA {built[0]}, or torch's for CUDA {of}.",
    )


def _missing(module: NativeModule, situation: Situation) -> Iterator[Finding]:
    missing = [name for name, where in module.needs.items() if where is None]
    if missing:
        yield findings.warning(
            "library-missing",
            f"{module.file} of {_called(module, situation)} needs {', '.join(missing)}, found neither in the target's "
            "wheels nor where the system's loader looks.",
            fix=_install(missing, situation),
        )


def _install(missing: list[str], situation: Situation) -> str:
    wheels = []
    for name in missing:
        match = re.fullmatch(r"lib(\w+)\.so\.([0-9]+)", name)
        wheel = _WHEELS.get(match[1]) if match else None
        if match and wheel:
            wheels.append(wheel if int(match[2]) >= 13 else f"{wheel}-cu{match[2]}")
    python = situation.target.path if situation.target else "python3"
    if not wheels:
        return "Install the CUDA libraries of that release beside torch's."
    return f"{python} -m pip install {' '.join(dict.fromkeys(wheels))}"


def _called(module: NativeModule, situation: Situation) -> str:
    version = situation.version(module.package)
    return f"{module.package} {version}" if version else module.package
