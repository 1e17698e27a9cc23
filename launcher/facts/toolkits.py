"""Every place a CUDA toolkit can be, in the order in which consumers look, each with how it was found.

A place is found by a small step; the order of `STEPS` is the order of consumers' lookups. To look elsewhere: one more
step. Malformed values are findings, never exceptions.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from launcher import findings
from launcher.facts.files import below, is_file, is_folder, is_there
from launcher.facts.nvcc import Compiler, examine
from launcher.facts.packages import installed
from launcher.machines import HPC_SDK, below_targets
from launcher.model import Finding, Target, Toolkit
from launcher.pinned_wheels import FOLDER, MANIFEST

T = TypeVar("T")
Kind = Literal["real", "wheel", "distro", "conda", "provisioned"]

# What a complete toolkit has, by the names that the judgement uses, and where it may lie below the root.
PARTS: dict[str, tuple[str, ...]] = {
    "nvcc": ("bin/nvcc",),
    "cicc": ("nvvm/bin/cicc",),
    "ptxas": ("bin/ptxas",),
    "cuda_runtime.h": ("include/cuda_runtime.h", "targets/*/include/cuda_runtime.h"),
    "cuda_fp8.h": ("include/cuda_fp8.h", "targets/*/include/cuda_fp8.h"),
    "curand_kernel.h": ("include/curand_kernel.h", "targets/*/include/curand_kernel.h"),
    "cccl": ("include/cccl/cub/cub.cuh", "include/cub/cub.cuh", "targets/*/include/cccl/cub/cub.cuh"),
    "libcudart.so": ("lib64/libcudart.so", "lib/libcudart.so", "targets/*/lib/libcudart.so"),
    "libcudart.so.N": ("lib64/libcudart.so.*", "lib/libcudart.so.*", "targets/*/lib/libcudart.so.*"),
    "libcuda-stub": ("lib64/stubs/libcuda.so", "lib/stubs/libcuda.so", "targets/*/lib/stubs/libcuda.so"),
    "lib64": ("lib64",),
    "curand.h": ("include/curand.h", "targets/*/include/curand.h"),
    "cublasLt.h": ("include/cublasLt.h", "targets/*/include/cublasLt.h"),
    "cuobjdump": ("bin/cuobjdump",),
    "compat": ("compat/libcuda.so.1",),
}
_LOCAL, _OPT, _HPC_SDK = Path("/usr/local"), Path("/opt"), Path("/opt/nvidia/hpc_sdk")
_TARGETS = "targets/*/"
_NEWEST_GCC = re.compile(r"^#if\s+.*__GNUC__\s*>\s*(?P<major>[0-9]+)", re.MULTILINE)
_CUDART_VERSION = re.compile(r"^#define\s+CUDART_VERSION\s+(?P<number>[0-9]+)", re.MULTILINE)


@dataclass(frozen=True)
class Surroundings:
    """Where to look from."""

    environ: Mapping[str, str]
    target: Target | None = None
    asked: str | None = None  # cuda.toolkit of the profile, where it is a path
    data: str | None = None  # our data folder, with the toolkits that we made
    machine: str = field(default_factory=platform.machine)


@dataclass(frozen=True)
class Place:
    """A root that something points to, or an nvcc that it was found by."""

    how: str
    root: Path | None = None
    nvcc: Path | None = None
    kind: Kind = "real"


Step = Callable[[Surroundings], Iterator["Place | Finding"]]


def look(surroundings: Surroundings) -> tuple[tuple[Toolkit, ...], tuple[Finding, ...]]:
    """Every toolkit once, by its true root, with all the ways to it; and what is malformed."""
    found: dict[str, Toolkit] = {}
    said: list[Finding] = []
    for step in STEPS:
        for item in step(surroundings):
            if isinstance(item, Finding):
                said.append(item)
                continue
            toolkit = _toolkit(item, surroundings.machine)
            known = found.get(toolkit.root)
            if known is None:
                found[toolkit.root] = toolkit
            elif item.how not in known.found:
                found[toolkit.root] = replace(known, found=(*known.found, item.how))
    return tuple(found.values()), tuple(said)


# --------------------------------------------------------------------------------------------------------------------
# Steps


def _from_profile(surroundings: Surroundings) -> Iterator[Place | Finding]:
    if surroundings.asked:
        yield Place("profile cuda.toolkit", root=Path(surroundings.asked))


def _from_variables(surroundings: Surroundings) -> Iterator[Place | Finding]:
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if name not in surroundings.environ:
            continue
        value = surroundings.environ[name]
        problem = malformed(value)
        if problem:
            yield findings.warning(
                "toolkit-variable-malformed",
                f"{name}={value!r} {problem}; libraries take it as it stands.",
                fix=f"unset {name}; the server gets one that is right.",
            )
        else:
            yield Place(name, root=Path(value))


def malformed(value: str) -> str | None:
    """Why a value cannot name a toolkit, as the rest of a sentence."""
    if not value:
        return "is empty, which is not the same as unset"
    if value.startswith(":") or value.endswith(":") or ":/" in value:
        return "looks like a PATH, not like one folder"  # vllm-project/vllm#36077
    if not value.startswith("/"):
        return "is relative"
    if not os.path.lexists(value):
        return "does not exist"
    if not is_folder(value):
        return "is not a folder"
    return None


def _from_search_path(surroundings: Surroundings) -> Iterator[Place | Finding]:
    for entry in dict.fromkeys(surroundings.environ.get("PATH", "").split(":")):
        if entry.startswith("/") and os.path.lexists(Path(entry, "nvcc")):
            yield _of_nvcc(Path(entry, "nvcc"), f"nvcc on PATH in {entry}")


def _of_nvcc(nvcc: Path, how: str) -> Place:
    return Place(how, nvcc=nvcc)


def _from_usual_places(surroundings: Surroundings) -> Iterator[Place | Finding]:
    usual = (_LOCAL / "cuda", *_newest_first(below(_LOCAL, "cuda-[0-9]*")), _OPT / "cuda")
    for root in usual:
        if is_folder(root):
            yield Place(f"{root}{_leads_to(root)}", root=root)


def _leads_to(root: Path) -> str:
    """Where /usr/local/cuda is a link: which of the others it means."""
    return f" (a link to {os.path.realpath(root)})" if os.path.islink(root) else ""


def _from_hpc_sdk(surroundings: Surroundings) -> Iterator[Place | Finding]:
    """`/opt/nvidia/hpc_sdk/Linux_x86_64/25.7/cuda/13.0`, or wherever NVHPC_ROOT leads: its cuRAND and cuBLAS lie in
    `math_libs`, so that as a root it is mostly incomplete.
    """
    folder = HPC_SDK.get(surroundings.machine)
    releases = _newest_first(below(_HPC_SDK / folder, "[0-9]*")) if folder else []
    told = surroundings.environ.get("NVHPC_ROOT", "")  # its environment module sets it
    for release in (*([Path(told)] if told.startswith("/") else []), *releases):
        for nvcc in _newest_first(below(release, "cuda/[0-9]*/bin/nvcc"), after=release / "cuda"):
            yield Place("NVIDIA's HPC SDK", root=nvcc.parent.parent)


def _newest_first(paths: Iterable[Path], after: Path | None = None) -> list[Path]:
    """By the numbers in the name, or in what comes after a folder: 12.10 after 12.9."""

    def numbers(path: Path) -> list[int]:
        return [int(part) for part in re.findall(r"[0-9]+", str(path.relative_to(after)) if after else path.name)]

    return sorted(paths, key=numbers, reverse=True)


def _from_conda(surroundings: Surroundings) -> Iterator[Place | Finding]:
    prefix = surroundings.environ.get("CONDA_PREFIX", "")
    if prefix.startswith("/") and is_there(Path(prefix, "bin/nvcc")):
        yield Place("CONDA_PREFIX", root=Path(prefix), kind="conda")


def _from_distribution(surroundings: Surroundings) -> Iterator[Place | Finding]:
    """Debian's package: a wrapper in /usr/bin, the true compiler in /usr/lib/nvidia-cuda-toolkit."""
    for nvcc in (Path("/usr/bin/nvcc"), Path("/usr/lib/nvidia-cuda-toolkit/bin/nvcc")):
        if os.path.lexists(nvcc):
            yield _of_nvcc(nvcc, f"the distribution's {nvcc}")


def _from_target(surroundings: Surroundings) -> Iterator[Place | Finding]:
    """The wheels of the target: torch's libraries make the folder too, so both halves of a compiler must be there."""
    for site in surroundings.target.site_packages if surroundings.target else ():
        root = Path(site, "nvidia/cu13")
        if is_file(root / "bin/nvcc") and is_file(root / "nvvm/bin/cicc"):
            yield Place("the target's wheels", root=root, kind="wheel")


def _from_provisioned(surroundings: Surroundings) -> Iterator[Place | Finding]:
    """Those that were made from wheels: finished ones alone, the newest release first."""
    made = below(Path(surroundings.data, FOLDER), f"*/{MANIFEST}") if surroundings.data else []
    for root in _newest_first(manifest.parent for manifest in made):
        yield Place("gpulaunch toolkit add", root=root, kind="provisioned")


def _from_parts_in_target(surroundings: Surroundings) -> Iterator[Place | Finding]:
    """What looks like a toolkit and is none: CUDA 12's wheels and torch's own assembler hold no nvcc."""
    for site in surroundings.target.site_packages if surroundings.target else ():
        for root, what in (
            (Path(site, "nvidia/cuda_nvcc"), "the target's CUDA 12 wheels"),
            (Path(site, "torch"), "torch"),
        ):
            if is_file(root / "bin/ptxas") and not is_there(root / "bin/nvcc"):
                yield Place(
                    f"{what}, which bring ptxas alone" if "wheels" in what else "torch's own ptxas",
                    root=root,
                    kind="wheel",
                )


STEPS: tuple[Step, ...] = (
    _from_profile,
    _from_variables,
    _from_search_path,
    _from_usual_places,
    _from_hpc_sdk,
    _from_conda,
    _from_target,
    _from_provisioned,
    _from_parts_in_target,
    _from_distribution,
)


# --------------------------------------------------------------------------------------------------------------------
# A place, looked at


def _toolkit(place: Place, machine: str) -> Toolkit:
    compiler = examine(place.nvcc or Path(place.root or "/", "bin/nvcc"))
    root = Path(compiler.root) if place.root is None or _leads_elsewhere(place.root, compiler) else _real(place.root)
    kind = _kind(root, place)
    return Toolkit(
        root=str(root),
        kind=kind,
        found=(place.how,),
        nvcc=compiler.path if compiler.release else None,
        release=compiler.release,
        headers_release=_read_header(root, machine, "cuda_runtime_api.h", parse_cudart_version),
        parts=_parts(root, machine),
        problem=compiler.problem,
        wheels=_wheels(root) if kind == "wheel" else {},
        newest_gcc=_read_header(root, machine, "crt/host_config.h", parse_newest_gcc),
    )


def _leads_elsewhere(root: Path, compiler: Compiler) -> bool:
    """True for a root whose bin/nvcc is a link or wrapper into another one: /usr/local with a wrapper in its bin."""
    if compiler.release is None:
        return False
    return Path(compiler.root) != _real(root) and not Path(compiler.path).is_relative_to(_real(root))


def _real(root: Path) -> Path:
    return Path(os.path.realpath(root))


def _kind(root: Path, place: Place) -> Kind:
    if str(root) == "/usr" or str(root).startswith("/usr/lib/nvidia-cuda-toolkit"):
        return "distro"
    if root.parts[-2:] == ("nvidia", "cu13"):
        return "wheel"
    if is_folder(root / "conda-meta"):
        return "conda"
    return place.kind


def _parts(root: Path, machine: str) -> tuple[str, ...]:
    return tuple(
        name for name, places in PARTS.items() if any(_exists(root, one) for one in _spelt_out(places, machine))
    )


def _spelt_out(places: Iterable[str], machine: str) -> Iterator[str]:
    """Of `targets`, this machine's folders alone: a toolkit with cross compilers has others."""
    for place in places:
        yield from below_targets(machine, place[len(_TARGETS) :]) if place.startswith(_TARGETS) else (place,)


def _exists(root: Path, place: str) -> bool:
    return bool(below(root, place)) if "*" in place else is_there(root / place)


def _read_header(root: Path, machine: str, name: str, parse: Callable[[str], T | None]) -> T | None:
    """What a header of the toolkit says, wherever it keeps them (conda: below targets/ alone)."""
    for header in (root / "include" / name, *(root / one for one in below_targets(machine, f"include/{name}"))):
        try:
            with header.open(encoding="utf-8", errors="replace") as file:
                found = parse(file.read(200_000))
        except OSError:
            continue
        if found is not None:
            return found
    return None


def parse_newest_gcc(header: str) -> int | None:
    """`#if __GNUC__ > 15` of `crt/host_config.h` to 15: nvcc refuses anything newer. Pure."""
    match = _NEWEST_GCC.search(header)
    return int(match["major"]) if match else None


def parse_cudart_version(header: str) -> str | None:
    """`#define CUDART_VERSION 13000` to "13.0". Pure."""
    match = _CUDART_VERSION.search(header)
    if match is None:
        return None
    number = int(match["number"])
    return f"{number // 1000}.{number % 1000 // 10}"


def _wheels(root: Path) -> dict[str, str]:
    """The nvidia distributions beside the root: another version of one makes another toolkit."""
    site = root.parent.parent
    return {name: version for name, version in installed([site]).items() if name.startswith("nvidia-")}
