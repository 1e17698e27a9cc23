"""What `ci/install_cuda.py` left: the environments that serve, and a toolkit. It only looks."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

VERSIONS = ("0.6.8", "0.6.12")  # the reported FlashInfer, and the one that sglang 0.5.14 pins


@dataclass(frozen=True)
class Lab:
    """The folder of the lab."""

    folder: Path

    def environment(self, flashinfer: str, *, with_compiler: bool) -> Path:
        """An environment with torch 2.11.0 (cu130) and this FlashInfer, with the CUDA 13.0 compiler's wheels or without."""
        name = {"0.6.8": "founding", "0.6.12": "pinned"}[flashinfer]
        return self.folder / (f"{name}-wheel" if with_compiler else name)

    @property
    def toolkit(self) -> Path:
        """A complete CUDA 13.0, as NVIDIA's installer would leave it."""
        return self.folder / "toolkit-13.0"


def here() -> Lab:
    """The lab of this machine, complete or not."""
    return Lab(Path(os.environ.get("GPULAUNCH_CUDA_LAB") or "~/.cache/gpulaunch-tests/cuda").expanduser().absolute())


def why_not() -> str | None:
    """Why the stage cannot run here, as one sentence; None where it can."""
    if os.geteuid() != 0:
        return "the cuda stage puts another /usr/local in a mount namespace of its own: run it as root"
    if shutil.which("unshare") is None:
        return "the cuda stage needs unshare (util-linux)"
    lab = here()
    parts = [lab.toolkit, *(lab.environment(v, with_compiler=c) for v in VERSIONS for c in (False, True))]
    missing = [part.name for part in parts if not part.with_name(f"{part.name}.made").is_file()]
    if missing:
        return f"{lab.folder} lacks {', '.join(missing)}: run python3 ci/install_cuda.py {lab.folder}"
    return None
