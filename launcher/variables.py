"""Variables that a profile and an operator must not set as they please, with the key to use instead. Data; pure."""

from __future__ import annotations

import re

# They must name one toolkit together, or libraries disagree about it.
RESERVED = {
    "PATH": "Use env.path, which adds folders.",
    "CUDA_HOME": "Use cuda.toolkit, which names a toolkit.",
    "CUDA_PATH": "Use cuda.toolkit, which names a toolkit.",
    "CUDA_LIB_PATH": "Use cuda.toolkit, which names a toolkit.",
}

# An empty value of these is a broken one for the library that reads it: FlashInfer raises at import, Triton at the
# first kernel.
_NEVER_EMPTY = (
    (re.compile(r"(?:.+_)?CUDA_ARCH_LIST|CUDAARCHS"), "cuda.arch"),
    (re.compile(r"TRITON_.*_PATH|CUDA_.*(?:PATH|HOME|ROOT|DIR)|CUDATOOLKIT_.*|CUDACXX|NVCC.*"), "cuda.toolkit"),
)


def must_not_be_empty(name: str) -> str | None:
    """The key that says what is meant, for a variable whose empty value is not the same as none; else None."""
    return next((instead for pattern, instead in _NEVER_EMPTY if pattern.fullmatch(name.upper())), None)
