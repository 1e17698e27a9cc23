"""PyTorch compiles only on request (`torch.utils.cpp_extension`), but every toolkit must match its CUDA release.

It finds a toolkit as FlashInfer does, without needing the program `which` (torch 2.11 and 2.14,
`utils/cpp_extension.py:_find_cuda_home`).
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.architectures import Release
from launcher.consumers import lookup
from launcher.model import Change, Finding, Found, Step
from launcher.situation import Situation
from launcher.surroundings import Surroundings

NAME = "PyTorch"
PACKAGE = "torch"
WANTS: tuple[str, ...] = ()
PROBE = "ask_torch.py"
NEEDS = ("nvcc", "cicc", "ptxas", "cuda_runtime.h", "libcudart.so")


def floor(version: str | None, capability: str) -> Release | None:
    """No rule of its own: the major release must equal that of the build, which the choice asks for in any case."""
    return None


def compiles(situation: Situation) -> str | None:
    """Nothing by itself."""
    return None


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """The arch list in torch's syntax: `;` between entries, and no `f` targets (both others raise ValueError)."""
    if situation.capabilities:
        yield Change(
            name="TORCH_CUDA_ARCH_LIST",
            action="set",
            value=";".join(situation.capabilities),
            origin="cuda",
            because=situation.because("torch extensions are built for these GPUs only, whatever an image left behind"),
        )


def predict(surroundings: Surroundings) -> Found:
    """`_find_cuda_home`: no program `which` is needed, and nothing is raised."""
    path = lookup.from_variables(surroundings)
    if path is None:
        path = lookup.from_search_path(surroundings)
    if path is None:
        path = lookup.usual_place(surroundings)
    return Found(path=path, release=surroundings.torch_cuda)


def harm(found: Found, situation: Situation) -> str | None:
    """An extension fails to build; nothing else."""
    return None
