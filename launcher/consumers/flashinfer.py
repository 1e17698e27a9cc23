"""FlashInfer compiles CUDA kernels while serving and asks an nvcc for "the CUDA version" at import.

Its lookup is CUDA_HOME, then CUDA_PATH, then `which nvcc`, then /usr/local/cuda (flashinfer 0.5.0 and later,
`jit/cpp_ext.py`), and the answer is kept for the life of the process. From 0.6.7 to 0.7.0 a release below 12.9 on a
12.x GPU raises inside `CompilationContext`, is swallowed into a warning, and ends as "FlashInfer requires GPUs with
sm75 or higher": the founding fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from packaging.version import Version

from launcher.architectures import Release, first_release, order, parse_release
from launcher.consumers import lookup
from launcher.model import Change, Finding, Found, Step
from launcher.situation import Situation
from launcher.surroundings import Surroundings, Unforeseen

T = TypeVar("T")

NAME = "FlashInfer"
PACKAGE = "flashinfer-python"
AOT_PACKAGE = "flashinfer-jit-cache"
# Sampling stops without curand_kernel.h (sgl-project/sglang#4169), page without CUB up to 0.6.8, which vendors none.
NEEDS = (
    "nvcc", "cicc", "ptxas", "cuda_runtime.h", "cuda_fp8.h", "curand_kernel.h", "cccl", "lib64", "libcudart.so",
    "libcuda-stub",
)  # fmt: skip
WANTS: tuple[str, ...] = ()
PROBE = "ask_flashinfer.py"

# Since this version an arch without a suffix is completed (and checked) by FlashInfer; before, it is taken literally.
_NORMALISES_ARCH = Version("0.6.7")
# Since this version 12.1 is another target than 12.0 (flashinfer-ai/flashinfer#2839).
_KEEPS_MINOR = Version("0.6.8")
# Since this version 12.0 is allowed from CUDA 12.8 on (flashinfer-ai/flashinfer#3633).
_ALLOWS_12_8 = Version("0.7.2")


def floor(version: str | None, capability: str) -> Release | None:
    """FlashInfer's own gate (`compilation_context.py`): 12.x from 0.6.7 on. An unknown version gets the strictest."""
    known = Version(version) if version else None
    if not capability.startswith("12.") or (known and known < _NORMALISES_ARCH):
        return None
    if capability == "12.0" and known and known >= _ALLOWS_12_8:
        return (12, 8)
    return (12, 9)


def compiles(situation: Situation) -> str | None:
    """Every module that has no prebuilt form; `flashinfer-jit-cache` of the same version covers the usual ones."""
    prebuilt, own = situation.version(AOT_PACKAGE), situation.version(PACKAGE)
    if situation.assumed or (prebuilt and own and Version(prebuilt).public == Version(own).public):
        return None
    return f"FlashInfer {own}'s kernels (attention, sampling, page, norm): {AOT_PACKAGE} {own} is not in the target"


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """The arch list in FlashInfer's syntax; its workspace stands in the table of caches."""
    yield from _arch_list(situation)


def arch(capability: str, *, engine: str, version: str | None) -> str:
    """One entry of the list: with `a` from 9.0 on, unless this FlashInfer completes a plain one itself.

    sglang overwrites the variable with the `a` form when it loads the model (`srt/utils/common.py:set_cuda_arch`,
    0.5.10 to 0.5.23): another form would put the kernels of one server into two caches. `a` is also the form that no
    version's gate refuses.
    """
    completes = version is not None and Version(version) >= _NORMALISES_ARCH
    plain = engine != "sglang" and completes
    return capability if plain or first_release(capability, "a") is None else f"{capability}a"


def _arch_list(situation: Situation) -> Iterator[Change]:
    if not situation.capabilities:
        return
    version = situation.version(PACKAGE)
    engine = situation.profile.engine
    release = parse_release(situation.choice.release) if situation.choice else None
    entries = [
        entry if _known(entry, release) else entry.rstrip("a")
        for entry in (arch(capability, engine=engine, version=version) for capability in situation.capabilities)
    ]
    yield Change(
        name="FLASHINFER_CUDA_ARCH_LIST",
        action="set",
        # FlashInfer splits on exactly one space and raises at import on anything else, an empty value included.
        value=" ".join(entries),
        origin="cuda",
        because=situation.because(
            f"compute capability {', '.join(situation.capabilities)}, {_form(engine)}; the GPUs need not be probed"
        ),
    )


def _known(entry: str, release: Release | None) -> bool:
    """False for a suffix that the chosen nvcc does not know."""
    needed = first_release(entry[:-1], "a") if entry.endswith("a") else None
    return release is None or needed is None or release >= needed


def _form(engine: str) -> str:
    return "as sglang itself sets it later" if engine == "sglang" else "in FlashInfer's syntax"


# --------------------------------------------------------------------------------------------------------------------
# What its own lookup returns


class _Raised(Exception):
    """An exception of FlashInfer's, by the name of its class."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


# What becomes of running the nvcc, where that raises: `get_cuda_version` catches the first two (0.5.0 to 0.7.4).
_RAISES = {
    "missing": "FileNotFoundError",
    "fails": "CalledProcessError",
    "silent": "RuntimeError",
    "forbidden": "PermissionError",
    "below-a-file": "NotADirectoryError",
    "no-program": "OSError",
}
_CAUGHT = ("FileNotFoundError", "CalledProcessError", "RuntimeError")


def predict(surroundings: Surroundings) -> Found:
    """`get_cuda_path`, `get_cuda_version`, `CompilationContext` and `check_cuda_arch` of 0.5.0 to 0.7.4."""
    errors: dict[str, str] = {}
    path = _noted(errors, "path", lambda: _path(surroundings))
    release = _noted(errors, "release", lambda: _release(surroundings))
    archs = _noted(errors, "archs", lambda: _archs(surroundings))
    if archs is not None and not any(_is_eligible(arch) for arch in archs):
        errors["check"] = "RuntimeError"
    return Found(path=path, release=release, archs=archs, errors=errors)


def harm(found: Found, situation: Situation) -> str | None:
    """How it ends, later and in other words."""
    if "archs" in found.errors:
        return f"`import flashinfer` raises {found.errors['archs']}"
    if "check" in found.errors:
        return (
            "its list of architectures stays empty behind a warning, and the first kernel fails with "
            '"FlashInfer requires GPUs with sm75 or higher"'
        )
    if "path" in found.errors:
        return f"every kernel that has to be compiled fails with {found.errors['path']}"
    return None


def _noted(errors: dict[str, str], part: str, ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except _Raised as raised:
        errors[part] = raised.name
        return None


def _path(surroundings: Surroundings) -> str:
    said = lookup.from_variables(surroundings)
    if said is not None:
        return said
    if surroundings.which("which") is None:
        raise _Raised("FileNotFoundError")  # it runs the program `which`, which slim images lack
    found = lookup.from_search_path(surroundings)
    if found is None:
        found = lookup.usual_place(surroundings)
    if found is None:
        raise _Raised("RuntimeError")
    return found


def _release(surroundings: Surroundings) -> str:
    """The nvcc's, else torch's; what is not caught ends the lookup."""
    try:
        root = surroundings.root(_path(surroundings))
        if root.release is not None:
            return root.release
        raise _Raised(_RAISES[root.nvcc])
    except _Raised as raised:
        if raised.name not in _CAUGHT:
            raise
    if surroundings.torch_cuda is None:
        raise _Raised("RuntimeError")
    return surroundings.torch_cuda


def _archs(surroundings: Surroundings) -> tuple[str, ...]:
    version = _version(surroundings)
    said = surroundings.environ.get("FLASHINFER_CUDA_ARCH_LIST")
    if said is not None:
        archs = {_said_arch(token, version, surroundings) for token in said.split(" ")}
    else:
        archs = _detected(version, surroundings)
    return tuple(sorted(archs, key=_by_number))


def _version(surroundings: Surroundings) -> Version:
    version = surroundings.packages.get(PACKAGE)
    if version is None:
        raise Unforeseen(PACKAGE)
    return Version(version)


def _said_arch(token: str, version: Version, surroundings: Surroundings) -> str:
    parts = token.split(".")
    if len(parts) != 2 or not _is_integer(parts[0]):
        raise _Raised("ValueError")
    major, minor = int(parts[0]), parts[1]
    if version < _NORMALISES_ARCH:
        return f"{major}.{minor}"
    if not minor:
        raise _Raised("IndexError")
    if minor[-1].isalpha():
        return f"{major}.{minor}"
    if not _is_integer(minor):
        raise _Raised("ValueError")
    return _completed(major, int(minor), version, surroundings)


def _is_integer(text: str) -> bool:
    """As int() sees it."""
    try:
        int(text)
    except ValueError:
        return False
    return True


def _detected(version: Version, surroundings: Surroundings) -> set[str]:
    """GPU by GPU, up to the first that raises: that is logged as a warning and forgotten."""
    found: set[str] = set()
    for capability in surroundings.capabilities:
        major, minor = order(capability)
        try:
            found.add(
                f"{major}.{minor}{'a' if major >= 9 else ''}"
                if version < _NORMALISES_ARCH
                else _completed(major, minor, version, surroundings)
            )
        except _Raised:
            break
    return found


def _completed(major: int, minor: int, version: Version, surroundings: Surroundings) -> str:
    """`_normalize_cuda_arch`: 12.x depends on the release, and below a floor raises."""
    if major != 12:
        return f"{major}.{minor}{'a' if major >= 9 else ''}"
    release = parse_release(_release(surroundings)) or (0, 0)
    if minor == 0 and version >= _ALLOWS_12_8 and (12, 8) <= release < (12, 9):
        return "12.0a"
    if release < (12, 9):
        raise _Raised("RuntimeError")
    if version < _KEEPS_MINOR:
        return "12.0f"
    return "12.0f" if minor == 0 else f"12.{minor}a"


def _is_eligible(arch: str) -> bool:
    major, _, minor = arch.partition(".")
    return int(major) >= 8 or (int(major) == 7 and minor.isdigit() and int(minor) >= 5)


def _by_number(arch: str) -> tuple[int, str]:
    major, _, minor = arch.partition(".")
    return int(major), minor
