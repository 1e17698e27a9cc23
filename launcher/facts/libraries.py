"""Shared libraries that may come into the server: in the caller's LD_LIBRARY_PATH, and in the target's wheels.

File names alone are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from launcher.model import LibraryFolder

# CUDA's libraries and the driver's; others in a folder are nobody's business here.
_OF_CUDA = re.compile(
    r"lib(cuda|cudart|cublas|cublasLt|cudnn\w*|cufft\w*|cufile\w*|cupti|curand|cusolver\w*|cusparse|cusparseLt|nccl|"
    r"nvJitLink|nvToolsExt|nvidia-ml|nvidia-ptxjitcompiler|nvptxcompiler|nvrtc(-builtins)?|nvshmem\w*|nvvm)\.so(\.[0-9.]+)?"
)


def on_library_path(environ: Mapping[str, str]) -> tuple[LibraryFolder, ...]:
    """Every entry of LD_LIBRARY_PATH, in order, each once."""
    entries = dict.fromkeys(environ["LD_LIBRARY_PATH"].split(":")) if environ.get("LD_LIBRARY_PATH") else {}
    return tuple(
        LibraryFolder(
            path=entry, exists=Path(entry).is_dir(), libraries=_in(Path(entry)) if entry.startswith("/") else ()
        )
        for entry in entries
    )


def in_wheels(sites: Iterable[Path]) -> tuple[str, ...]:
    """What the target's nvidia wheels carry."""
    folders = (folder for site in sites for folder in sorted(site.glob("nvidia/*/lib")))
    return tuple(sorted({name for folder in folders for name in _in(folder)}))


def _in(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(sorted(name for name in os.listdir(folder) if _OF_CUDA.fullmatch(name)))
    except OSError:
        return ()
