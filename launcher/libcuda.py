"""Which libcuda.so.1 a process loads, and what driver that amounts to. Pure.

The loader takes LD_LIBRARY_PATH's folders first, then its cache, then its own few folders. A toolkit's `compat` folder
holds a libcuda too: a newer one than an old kernel driver's (that is what it is for), or an older one than the kernel
driver, and then every call ends with error 803 (vllm-project/vllm#34821).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from launcher import drivers
from launcher.model import Facts

NAME = "libcuda.so.1"
CACHED, UNCACHED = "the loader's cache", "a folder that the loader's cache does not know"
# WSL's is called libcuda.so.1.1, which is no driver's version.
_VERSION = re.compile(r"libcuda\.so\.([0-9]{3,}(?:\.[0-9]+)+)$")


@dataclass(frozen=True)
class Loaded:
    """The file, how the loader comes to it, and the driver's version that its name says; None: it says none."""

    path: str
    real: str
    how: str
    version: str | None

    @property
    def compat(self) -> bool:
        """From a toolkit's forward compatibility package."""
        return "compat" in self.path.split("/") or "compat" in self.real.split("/")


def loaded(facts: Facts, library_path: str) -> Loaded | None:
    """By a value of LD_LIBRARY_PATH; None where there is none, or where nobody looked."""
    return next((found for found in every(facts, library_path)), None)


def every(facts: Facts, library_path: str) -> list[Loaded]:
    """All that the loader could come to, the one that it takes first."""
    folders = {folder.path: folder for folder in facts.library_folders}
    entries = (folders[entry] for entry in library_path.split(":") if entry in folders)
    found = [_loaded(f"{entry.path}/{NAME}", entry.libcuda, "LD_LIBRARY_PATH") for entry in entries if entry.libcuda]
    system = [library for library in facts.system_libraries or () if library.name == NAME]
    return found + [_loaded(one.path, one.real, CACHED if one.cached else UNCACHED) for one in system]


def driver(facts: Facts, library_path: str) -> str | None:
    """The driver's version that counts for CUDA: the kernel's, or that of a newer compat library which is loaded."""
    kernels = facts.driver.version if facts.driver else None
    found = loaded(facts, library_path)
    if found is None or not found.compat or not is_older(kernels, found.version):
        return kernels
    return found.version


def is_older(one: str | None, other: str | None) -> bool:
    """By the numbers; False where either is not known."""
    first, second = drivers.parse(one), drivers.parse(other)
    return first is not None and second is not None and first < second


def _loaded(path: str, real: str, how: str) -> Loaded:
    match = _VERSION.search(real)
    return Loaded(path, real, how, match[1] if match else None)
