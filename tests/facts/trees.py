"""Toolkits and virtual environments as trees in a temporary folder."""

from __future__ import annotations

from pathlib import Path

BANNER = """nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2025 NVIDIA Corporation
Cuda compilation tools, release {release}, V{release}.93
"""


def script(path: Path, body: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def toolkit(root: Path, release: str, *, cudart: int | None = None) -> Path:
    """A root whose nvcc says a release and compiles nothing; with headers of a CUDART_VERSION if given."""
    lines = " ".join(f"'{line}'" for line in BANNER.format(release=release).splitlines())
    script(root / "bin/nvcc", f'[ "$1" = --version ] || exit 1\nprintf "%s\\n" {lines}')
    (root / "nvvm/bin").mkdir(parents=True)
    (root / "nvvm/bin/cicc").touch()
    if cudart is not None:
        header = root / "include/cuda_runtime_api.h"
        header.parent.mkdir(parents=True)
        header.write_text(f"/* */\n#define CUDART_VERSION  {cudart}\n")
    return root


def site(venv: Path, *distributions: str) -> Path:
    """A virtual environment's site-packages with the metadata folders of these distributions."""
    packages = venv / "lib/python3.11/site-packages"
    for distribution in distributions:
        (packages / f"{distribution}.dist-info").mkdir(parents=True)
    (venv / "bin").mkdir(parents=True, exist_ok=True)
    (venv / "bin/python").symlink_to("/bin/sh")
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.7\n")
    return packages
