"""The lookup that nearly every library has copied: CUDA_HOME, CUDA_PATH, nvcc on PATH, /usr/local/cuda. Pure."""

from __future__ import annotations

import posixpath

from launcher.surroundings import Surroundings

USUAL = "/usr/local/cuda"


def from_variables(surroundings: Surroundings, first: str = "CUDA_HOME", second: str = "CUDA_PATH") -> str | None:
    """`environ.get(first) or environ.get(second)`: an empty first is skipped, an empty second is an answer."""
    environ = surroundings.environ
    return environ.get(first) or environ.get(second)


def from_search_path(surroundings: Surroundings) -> str | None:
    """The parent of the parent of the first nvcc on PATH, links and all."""
    nvcc = surroundings.which("nvcc")
    return posixpath.dirname(posixpath.dirname(nvcc)) if nvcc else None


def usual_place(surroundings: Surroundings) -> str | None:
    """/usr/local/cuda, if it is there."""
    return USUAL if surroundings.root(USUAL).state != "missing" else None


def common(surroundings: Surroundings) -> str | None:
    """All of them in their order; None where nothing is found."""
    for step in (from_variables, from_search_path, usual_place):
        found = step(surroundings)
        if found is not None:
            return found
    return None
