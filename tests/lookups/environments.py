"""Environments: every axis in which they differ, some that people had, and as many more as are drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.lookups.layouts import LAYOUTS

_SYSTEM = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Question:
    """One environment on a machine of some layout. `variables` hold PATH too."""

    layout: str
    variables: tuple[tuple[str, str], ...]
    torch_cuda: str | None
    capabilities: tuple[str, ...]

    @property
    def environ(self) -> dict[str, str]:
        """As a process gets it."""
        return dict(self.variables)


def axes(stage: Path) -> dict[str, tuple[object, ...]]:
    """Each axis with its values; None: the variable is not set."""
    root = tuple(
        f"{stage}/{name}"
        for name in (
            "cuda-12.4", "cuda-12.8", "cuda-12.9", "cuda-13.0", "cuda-13.5", "link-13.0", "fails", "silent", "no-comma",
            "no-program", "forbidden", "empty", "file", "missing", "folder-called-nvcc",
        )
    )  # fmt: skip
    odd = ("", f":{stage}/cuda-12.8", f"{stage}/cuda-13.0/", "cuda-13.0", "/usr", "/dev/null", "/usr/local/cuda")
    path = (
        f"{stage}/cuda-12.8/bin:{_SYSTEM}",
        f"{stage}/cuda-13.0/bin:{_SYSTEM}",
        f"{stage}/cuda-13.0/bin/:{stage}/cuda-12.8/bin:{_SYSTEM}",
        _SYSTEM,
        f"{stage}/links:{_SYSTEM}",
        f"{stage}/shim/bin:{_SYSTEM}",
        f"{stage}/forbidden/bin:{stage}/cuda-12.9/bin:{_SYSTEM}",
        f"{stage}/folder-called-nvcc/bin:{_SYSTEM}",
        f"{stage}/fails/bin:{_SYSTEM}",
        f"{stage}/silent/bin:{stage}/cuda-13.0/bin:{_SYSTEM}",
        f"{stage}/no-program/bin:{_SYSTEM}",
        f"{stage}/file:{stage}/missing:{_SYSTEM}",
        f"/usr/local/cuda/bin:{_SYSTEM}",
        f"{stage}/few:{stage}/cuda-12.8/bin",
        f"{stage}/without-which",
        f"{stage}/without-which:{stage}/cuda-12.8/bin",
        f":{_SYSTEM}",
        f"{_SYSTEM}:{stage}/cuda-12.8/bin:",
        f"{stage}/ninja:{stage}/cuda-13.0/bin:{_SYSTEM}",
        f"{stage}/ninja:{_SYSTEM}",
    )
    ptxas = ("", "/nonexistent/ptxas", *(f"{stage}/{name}/bin/ptxas" for name in (
        "cuda-12.8", "cuda-13.0", "cuda-13.5", "fails", "silent", "no-program", "forbidden", "file")))  # fmt: skip
    arch_list = (
        "12.0", "12.0a", "12.0f", "12.1", "9.0 12.0", "12.0 12.1", "12.0;9.0", "12.0,12.1", "", " 12.0", "12.0 ",
        "12.0  9.0", "120", "sm_120", "12.0+PTX", "7.0", "7.5", "8.9", "12.", ".0", "x.0", "12.x", "12.0.1", "10.3",
    )  # fmt: skip
    return {
        "layout": tuple(layout.name for layout in LAYOUTS),
        "CUDA_HOME": (None, None, None, *root, *odd),
        "CUDA_PATH": (None, None, None, None, *root, *odd),
        "PATH": path,
        "FLASHINFER_CUDA_ARCH_LIST": (None, None, None, None, None, None, *arch_list),
        "TVM_FFI_CUDA_ARCH_LIST": (None, None, "12.0", "12.0a 9.0a", "12.0;9.0", "", "120", " 12.0 ", "12.0f", "9"),
        "TRITON_PTXAS_PATH": (None, None, None, *ptxas),
        "TRITON_PTXAS_BLACKWELL_PATH": (None, None, *ptxas),
        "VLLM_HAS_FLASHINFER_CUBIN": (None, None, None, "1", "0"),
        "torch_cuda": ("13.0", "13.0", "13.0", "12.8", "12.9", None),
        "capabilities": (
            ("12.0", "12.0"), ("12.0",), ("12.1",), ("9.0", "12.0"), ("12.0", "9.0"), ("8.9",), ("10.3",), ("7.5",),
            ("7.0",), (),
        ),
    }  # fmt: skip


def questions(stage: Path, count: int, seed: int) -> tuple[Question, ...]:
    """Those that people had first, then `count` more by the seed, each once."""
    known = tuple(reported(stage))
    drawn = dict.fromkeys(known)
    dice = random.Random(seed)
    values = axes(stage)
    while len(drawn) < len(known) + count:
        drawn[_question({name: dice.choice(choices) for name, choices in values.items()})] = None
    return tuple(drawn)


def _question(values: dict[str, object]) -> Question:
    variables = {name: value for name, value in values.items() if name.isupper() and value is not None}
    return Question(
        layout=str(values["layout"]),
        variables=(("HOME", "/nonexistent/home"), *((name, str(value)) for name, value in sorted(variables.items()))),
        torch_cuda=values["torch_cuda"],  # type: ignore[arg-type]
        capabilities=values["capabilities"],  # type: ignore[arg-type]
    )


def reported(stage: Path) -> Iterator[Question]:
    """The founding host, and what people tried on it."""
    stale, fresh = f"{stage}/cuda-12.8", f"{stage}/cuda-13.0"
    gpus = ("12.0", "12.0")

    def founding(layout: str = "stale", path: str = f"{stale}/bin:{_SYSTEM}", **variables: str) -> Question:
        made = {"layout": layout, "PATH": path, "torch_cuda": "13.0", "capabilities": gpus, **variables}
        return _question(made)

    yield founding()
    yield founding(CUDA_HOME="")
    yield founding(path=_SYSTEM)  # nvcc off PATH, and /usr/local/cuda still there
    yield founding(layout="bare", path=_SYSTEM)
    yield founding(CUDA_HOME=fresh)
    yield founding(CUDA_PATH=fresh)
    yield founding(CUDA_HOME=stale, CUDA_PATH=fresh)
    yield founding(CUDA_HOME="", CUDA_PATH="")
    yield founding(CUDA_HOME=f"{stage}/missing")
    yield founding(CUDA_HOME="/dev/null")
    yield founding(CUDA_HOME=f":{stale}")  # vllm-project/vllm#36077
    yield founding(FLASHINFER_CUDA_ARCH_LIST="12.0")
    yield founding(FLASHINFER_CUDA_ARCH_LIST="12.0f")
    yield founding(layout="distribution", path=_SYSTEM)  # vllm-project/vllm#8665
    yield founding(layout="wrapper", path=_SYSTEM)  # tile-ai/tilelang#2839
    yield founding(path=f"{stage}/without-which", layout="bare")
