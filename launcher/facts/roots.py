"""What stands at every spelling that a lookup may take for a toolkit, links and all.

`facts/toolkits.py` finds what truly stands behind a place; libraries do not: they take CUDA_HOME by its word, or the
parent of the parent of an nvcc on PATH, and run PLACE/bin/nvcc. What becomes of that is what they will be told.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from launcher.facts.asking import ask
from launcher.model import Folder, Root, Target, Tool

Answer = Literal["runs", "silent", "fails", "missing", "forbidden", "below-a-file", "no-program"]

# As FlashInfer reads it (`jit/cpp_ext.py:get_cuda_version`): with the comma.
_RELEASE = re.compile(r"release (\d+\.\d+),")
_USUAL = ("/usr/local/cuda", "/opt/cuda", "/usr", "/usr/local")
# What lookups ask for below a root (sglang-kernel `load_utils.py`, torch's link line, tilelang `contrib/nvcc.py`).
_ASKED_FOR = (
    "lib", "lib64", "include", "bin", "version.txt", "version.json", "nvvm", "bin/ptxas", "bin/cuobjdump",
    "lib64/libcudart.so", "lib/libcudart.so", "lib64/libcudart.so.12", "lib64/libcudart.so.13", "lib/libcudart.so.12",
    "lib/libcudart.so.13",
)  # fmt: skip


# Variables that name a program. Triton runs it at the first kernel (triton 3.6.0 and 3.8.0, `knobs.py`).
TOOLS = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")


def tools(environ: Mapping[str, str]) -> tuple[Tool, ...]:
    """Every program that is named, each once. A relative one is never run."""
    named = dict.fromkeys(environ[name] for name in TOOLS if name in environ)
    return tuple(_tool(path) for path in named if not path or path.startswith("/"))


def _tool(path: str) -> Tool:
    answer, release = _ask(path) if path else ("forbidden", None)  # as the system answers for an empty name
    return Tool(path=path, answer=answer, release=release)


def look(
    environ: Mapping[str, str], folders: Iterable[Folder], target: Target | None, known: Iterable[str]
) -> tuple[Root, ...]:
    """Every spelling once. `known` are more roots that a plan may name."""
    spelled = dict.fromkeys((*_spelled(environ, folders, target), *known))
    return tuple(
        at(spelling) for spelling in spelled if spelling.startswith("/") or not os.path.lexists(_nvcc(spelling))
    )


def _spelled(environ: Mapping[str, str], folders: Iterable[Folder], target: Target | None) -> Iterator[str]:
    yield from (environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if name in environ)
    for folder in folders:
        if folder.nvcc:
            yield posixpath.dirname(posixpath.dirname(f"{folder.path or '.'}/nvcc"))
    yield from _USUAL
    yield from (f"{site}/nvidia/cu13" for site in (target.site_packages if target else ()))
    yield ""  # CUDA_HOME= and CUDA_PATH= together


def at(spelling: str) -> Root:
    """What stands there. A relative spelling's nvcc is never run: it belongs to a working folder."""
    answer, release = _ask(_nvcc(spelling))
    return Root(
        path=spelling,
        state="folder" if os.path.isdir(spelling) else "file" if os.path.exists(spelling) else "missing",
        nvcc=answer,
        release=release,
        holds=tuple(name for name in _ASKED_FOR if os.path.exists(posixpath.join(spelling, name))),
    )


def _nvcc(spelling: str) -> str:
    return posixpath.join(spelling, "bin/nvcc")


def _ask(nvcc: str) -> tuple[Answer, str | None]:
    said = ask([nvcc, "--version"], with_errors=False)
    if said.error is not None:
        return _ERRORS.get(type(said.error), "no-program"), None
    if said.code is None:
        return "no-program", None
    if said.code:
        return "fails", None
    releases = _RELEASE.findall(said.text)
    return ("runs", releases[0]) if releases else ("silent", None)


_ERRORS: dict[type[OSError], Answer] = {
    FileNotFoundError: "missing",
    PermissionError: "forbidden",
    NotADirectoryError: "below-a-file",
}
