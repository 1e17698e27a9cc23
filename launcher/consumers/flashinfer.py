"""FlashInfer compiles CUDA kernels while serving and asks an nvcc for "the CUDA version" at import.

Its lookup is CUDA_HOME, then CUDA_PATH, then `which nvcc`, then /usr/local/cuda (flashinfer 0.5.0 and later,
`jit/cpp_ext.py`), and the answer is kept for the life of the process. From 0.6.7 to 0.7.0 a release below 12.9 on a
12.x GPU raises inside `CompilationContext`, is swallowed into a warning, and ends as "FlashInfer requires GPUs with
sm75 or higher": the founding fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from launcher.architectures import Release, first_release, parse_release
from launcher.consumers.workspace import jit_folder
from launcher.model import Change, Finding, Step
from launcher.situation import Situation

NAME = "FlashInfer"
PACKAGE = "flashinfer-python"
AOT_PACKAGE = "flashinfer-jit-cache"
NEEDS = ("nvcc", "cicc", "ptxas", "cuda_runtime.h", "libcudart.so")

# Since this version an arch without a suffix is completed (and checked) by FlashInfer; before, it is taken literally.
_NORMALISES_ARCH = Version("0.6.7")
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
    """The arch list in FlashInfer's syntax, and a workspace of its own for each toolkit."""
    yield from _arch_list(situation)
    yield from _workspace(situation)


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


def _workspace(situation: Situation) -> Iterator[Change | Step]:
    folder = jit_folder(situation)
    if folder is None:
        return
    reason = (
        "FlashInfer's cache is not keyed by the toolkit and up to 0.6.8 keeps the compiler of the first build: "
        "each toolkit gets its own"
    )
    yield Step(action="folder", path=folder, because="compiled kernels of this toolkit")
    yield Change(
        name="FLASHINFER_WORKSPACE_BASE",
        action="set",
        value=folder,
        origin="cuda",
        because=situation.because(reason),
    )
