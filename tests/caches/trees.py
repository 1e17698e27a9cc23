"""Caches in temporary folders: what FlashInfer leaves, in the form in which it leaves it."""

from __future__ import annotations

from pathlib import Path

from tests.facts.elf_files import write

# The first lines of what FlashInfer 0.6.8 writes (`jit/cpp_ext.py:generate_ninja_build_for_op`).
NINJA = """\
ninja_required_version = 1.3
name = {module}
cuda_home = {cuda_home}
cxx = c++
nvcc = {nvcc}

common_cflags = $
  -DPy_LIMITED_API=0x03090000 $
  -isystem $cuda_home/include
"""


def flashinfer_build(
    base: Path,
    module: str = "sampling",
    *,
    cuda_home: str = "/usr/local/cuda",
    nvcc: str = "$cuda_home/bin/nvcc",
    version: str = "0.6.8",
    needs: tuple[str, ...] | None = None,
) -> Path:
    """A module's folder; with a library where it needs something."""
    folder = base / f".cache/flashinfer/{version}/120f/cached_ops/{module}"
    folder.mkdir(parents=True)
    (folder / "build.ninja").write_text(NINJA.format(module=module, cuda_home=cuda_home, nvcc=nvcc))
    if needs is not None:
        write(folder / f"{module}.so", needs)
    return folder
