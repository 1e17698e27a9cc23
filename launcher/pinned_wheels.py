"""From which wheels a toolkit is made on the spot: pinned, release by release. Data; pure.

CUDA 13's wheels hold a compiler (CUDA 12's do not: `nvidia-cuda-nvcc-cu12` is ptxas alone). All of one toolkit are of
one minor release: CCCL stops a build where nvcc and headers differ (vllm-project/vllm#44305). cuobjdump has wheels
from 13.2 on only.
"""

from __future__ import annotations

from dataclasses import dataclass

# The file that makes a folder a finished toolkit: it is written last.
MANIFEST = "gpulaunch-toolkit.json"
# Below our data folder.
FOLDER = "toolkits"

MACHINES = ("x86_64", "aarch64")

# About what a wheel takes to fetch, in MB (13.0 on x86_64; other releases differ little).
_MEGABYTES = {
    "nvidia-cuda-nvcc": 38,
    "nvidia-cuda-crt": 1,
    "nvidia-nvvm": 62,
    "nvidia-cuda-cccl": 3,
    "nvidia-cuda-runtime": 3,
    "nvidia-curand": 60,
    "nvidia-cuda-cuobjdump": 1,
}
# About what all of them take on disk, unpacked, in MB.
MEGABYTES_ON_DISK = 420


@dataclass(frozen=True)
class Wheel:
    """One pinned distribution."""

    name: str
    version: str

    @property
    def pin(self) -> str:
        """As pip reads it."""
        return f"{self.name}=={self.version}"

    @property
    def megabytes(self) -> int:
        """About what it takes to fetch."""
        return _MEGABYTES[self.name]


def _of(compiler: str, cccl: str, runtime: str, curand: str, cuobjdump: str | None = None) -> tuple[Wheel, ...]:
    versions = {
        "nvidia-cuda-nvcc": compiler,
        "nvidia-cuda-crt": compiler,
        "nvidia-nvvm": compiler,
        "nvidia-cuda-cccl": cccl,
        "nvidia-cuda-runtime": runtime,
        "nvidia-curand": curand,
        "nvidia-cuda-cuobjdump": cuobjdump,
    }
    return tuple(Wheel(name, version) for name, version in versions.items() if version)


RELEASES: dict[str, tuple[Wheel, ...]] = {
    "13.0": _of("13.0.88", "13.0.85", "13.0.96", "10.4.0.35"),
    "13.1": _of("13.1.115", "13.1.115", "13.1.80", "10.4.1.81"),
    "13.2": _of("13.2.86", "13.2.86", "13.2.86", "10.4.2.66", "13.2.86"),
    "13.3": _of("13.3.73", "13.3.3.4.1", "13.3.29", "10.4.3.29", "13.3.73"),
    "13.4": _of("13.4.92", "13.3.4.3.1", "13.4.92", "10.4.4.72", "13.4.92"),
    "13.5": _of("13.5.37", "13.3.5.0.6", "13.5.37", "10.4.5.25", "13.5.37"),
}


def can_be_made(release: str | None, machine: str) -> bool:
    """True if there are wheels for it."""
    return release in RELEASES and machine in MACHINES


def why_not(release: str | None, machine: str) -> str:
    """Why no toolkit of this release can be made here, as the end of a sentence."""
    if machine not in MACHINES:
        return f"NVIDIA has no wheels for {machine}"
    if release is None:
        return "torch's CUDA release is not known"
    if release.startswith(("11.", "12.")):
        return f"no wheel of CUDA {release.split('.')[0]} holds nvcc"
    return f"known are {', '.join(RELEASES)}"


def root(data: str, release: str) -> str:
    """Where a toolkit of this release stands, below our data folder."""
    return f"{data}/{FOLDER}/{release}"
