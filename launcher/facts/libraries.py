"""Shared libraries that may come into the server: in the caller's LD_LIBRARY_PATH, and in the target's wheels.

File names alone are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from launcher.facts.files import below, is_folder, is_there
from launcher.model import LibraryFolder

# CUDA's libraries and the driver's; others in a folder are nobody's business here.
_OF_CUDA = re.compile(
    r"lib(cuda|cudart|cublas|cublasLt|cudnn\w*|cufft\w*|cufile\w*|cupti|curand|cusolver\w*|cusparse|cusparseLt|nccl|"
    r"nvJitLink|nvToolsExt|nvidia-ml|nvidia-ptxjitcompiler|nvptxcompiler|nvrtc(-builtins)?|nvshmem\w*|nvvm)\.so(\.[0-9.]+)?"
)


def on_library_path(environ: Mapping[str, str], wished: str | None = None) -> tuple[LibraryFolder, ...]:
    """Every entry of the caller's LD_LIBRARY_PATH and of the profile's, in order, each once."""
    values = [value for value in (environ.get("LD_LIBRARY_PATH"), wished) if value]
    return tuple(_folder(entry) for entry in dict.fromkeys(entry for value in values for entry in value.split(":")))


def _folder(entry: str) -> LibraryFolder:
    folder = Path(entry)
    libcuda = folder / "libcuda.so.1"
    return LibraryFolder(
        path=entry,
        exists=is_folder(folder),
        libraries=_in(folder) if entry.startswith("/") else (),
        libcuda=os.path.realpath(libcuda) if entry.startswith("/") and is_there(libcuda) else None,
    )


def in_wheels(sites: Iterable[Path]) -> tuple[str, ...]:
    """What the target's nvidia wheels carry."""
    folders = (folder for site in sites for folder in below(site, "nvidia/*/lib"))
    return tuple(sorted({name for folder in folders for name in _in(folder)}))


def _in(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(sorted(name for name in os.listdir(folder) if _OF_CUDA.fullmatch(name)))
    except OSError:
        return ()
