"""What the system's loader finds by a library's name: `ldconfig -p`, and folders where a driver lies that it was not
told of. Nothing is loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from launcher.facts.asking import ask
from launcher.model import SystemLibrary

# The driver's libraries, and cuDNN, whose parts are looked up one by one.
_WANTED = re.compile(r"lib(cuda|nvidia-ml|cudnn\w*)\.so\.[0-9]+")
# Where a driver's installer, a distribution, WSL and container runtimes put libcuda.so.1.
_USUAL = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
)


def look() -> tuple[SystemLibrary, ...] | None:
    """The driver's libraries and cuDNN, in the loader's order; None where it cannot be asked."""
    cached = known()
    if cached is None:
        return None
    wanted = [(name, path) for name, path in cached if _WANTED.fullmatch(name)]
    found = [SystemLibrary(name=name, path=path, real=os.path.realpath(path), cached=True) for name, path in wanted]
    listed = {library.real for library in found}
    return (*found, *(library for library in _usual() if library.real not in listed))


def _usual() -> Iterator[SystemLibrary]:
    for folder in _USUAL:
        path = Path(folder, "libcuda.so.1")
        if path.exists():
            yield SystemLibrary(name=path.name, path=str(path), real=os.path.realpath(path), cached=False)


@cache
def known() -> tuple[tuple[str, str], ...] | None:
    """Every name and path of the loader's cache, in its order; None where it cannot be asked."""
    said = ask(["ldconfig", "-p"], with_errors=False)
    return parse(said.text) if said.code == 0 else None


def parse(said: str) -> tuple[tuple[str, str], ...]:
    """`ldconfig -p`: names and paths, in order. Pure."""
    lines = (line.strip().partition(" => ") for line in said.splitlines())
    return tuple((name.split(" ", 1)[0], path) for name, arrow, path in lines if arrow)
