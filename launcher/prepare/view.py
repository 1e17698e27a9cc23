"""A toolkit view: a private folder of links to a toolkit that cannot be used as it lies.

The one in a target's wheels, `nvidia/cu13`, compiles but does not link: there is no lib64, no unversioned libcudart.so
and no stub of libcuda (flashinfer-ai/flashinfer#5064). conda's has them below targets/, and python, gcc and much else
beside nvcc in its bin. Neither is ever written to.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from launcher.machines import below_targets
from launcher.model import Step
from launcher.prepare.driver_functions import DRIVER_FUNCTIONS
from launcher.prepare.failure import Failure
from launcher.prepare.stub_library import MACHINES, shared_library
from launcher.prepare.tree import File, Link, install

_VERSIONED = re.compile(r"(?P<plain>lib.+\.so)\.[0-9][0-9.]*")
# Where a driver puts its library; a link to it has every name, the stub those that are known to be asked for.
_DRIVERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
)


# The programs of a toolkit: of a bin that holds others too, these alone are linked.
PROGRAMS = (
    "__nvcc_device_query", "bin2c", "crt", "cu++filt", "cudafe++", "cuobjdump", "fatbinary", "nvcc", "nvcc.profile",
    "nvdisasm", "nvlink", "nvprune", "ptxas", "tileiras",
)  # fmt: skip


def carry_out(step: Step) -> None:
    """Links into the toolkit's folder and adds what is missing. Raises Failure where the toolkit is gone."""
    source = Path(step.source or "/")
    if not (source / "bin/nvcc").exists():
        raise Failure(f"the toolkit {source} is not there any more", "Install it again, or plan again")
    install(Path(step.path), dict(_entries(source)))


def _entries(source: Path) -> Iterator[tuple[str, Link | File]]:
    shared = (source / "conda-meta").is_dir()
    # File by file: nvcc takes the folder it was called in for its own, and a link to the whole of bin would lead out.
    for name in _names(source / "bin"):
        if not shared or name in PROGRAMS:
            yield f"bin/{name}", Link(str(source / "bin" / name))
    for folder in ("nvvm", "targets", "nvvm-prev"):
        if (source / folder).is_dir():
            yield folder, Link(str(source / folder))
    headers, libraries = _headers(source), _libraries_of(source)
    yield "include", Link(str(headers))
    yield from _libraries(libraries)
    yield "lib", Link("lib64")


def _headers(source: Path) -> Path:
    """`include`, unless the toolkit's own lie below targets/ alone."""
    own = [source / folder for folder in below_targets(platform.machine(), "include")]
    return next((folder for folder in own if (folder / "cuda_runtime.h").exists()), source / "include")


def _libraries_of(source: Path) -> Path:
    own = [source / folder for folder in (*below_targets(platform.machine(), "lib"), "lib64", "lib")]
    return next((folder for folder in own if any(folder.glob("libcudart.so*"))), source / "lib")


def _libraries(lib: Path) -> Iterator[tuple[str, Link | File]]:
    names = [name for name in _names(lib) if name != "stubs"]
    for name in names:
        yield f"lib64/{name}", Link(str(lib / name))
    for name in names:
        match = _VERSIONED.fullmatch(name)
        if match and match["plain"] not in names:
            yield f"lib64/{match['plain']}", Link(name)
    yield "lib64/stubs/libcuda.so", _libcuda()


def _libcuda() -> Link | File:
    for folder in _DRIVERS:
        library = Path(folder, "libcuda.so.1")
        if _is_library(library):
            return Link(str(library))
    machine = platform.machine()
    if machine not in MACHINES:
        raise Failure(f"no stub of libcuda is known for {machine}", "Install the driver, or set cuda.toolkit: hide")
    return File(shared_library("libcuda.so.1", machine, DRIVER_FUNCTIONS))


def _is_library(path: Path) -> bool:
    """Container runtimes leave an empty file in images that were made with a GPU and are run without one."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.is_dir() else []
