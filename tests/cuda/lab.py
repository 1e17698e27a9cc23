"""What `ci/install_cuda.py` left: the environments that serve, and a toolkit. It only looks."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PARTS = ("founding", "founding-wheel", "server", "server-wheel", "server-mixed", "server-newest", "toolkit-13.0")


@dataclass(frozen=True)
class Lab:
    """The folder of the lab.

    `founding` is torch 2.11.0 (cu130) with FlashInfer 0.6.8, the reported one; `server` is sglang 0.5.14 with the
    0.6.12 that it pins. `-wheel`: with the compiler of CUDA 13.0 from wheels; `-mixed`, `-newest`: with one of
    other releases.
    """

    folder: Path

    def environment(self, name: str) -> Path:
        """One of the environments."""
        return self.folder / name

    @property
    def toolkit(self) -> Path:
        """A complete CUDA 13.0, as NVIDIA's installer would leave it."""
        return self.folder / "toolkit-13.0"

    @property
    def distribution(self) -> Path | None:
        """Debian's CUDA 12.4 as it would lie below /; None where the machine has no apt to fetch it with."""
        return self.folder / "debian-12.4" if (self.folder / "debian-12.4.made").is_file() else None


def here() -> Lab:
    """The lab of this machine, complete or not."""
    return Lab(Path(os.environ.get("GPULAUNCH_CUDA_LAB") or "~/.cache/gpulaunch-tests/cuda").expanduser().absolute())


def why_not() -> str | None:
    """Why the stage cannot run here, as one sentence; None where it can."""
    if os.geteuid() != 0:
        return "the cuda stage puts another /usr/local in a mount namespace of its own: run it as root"
    if shutil.which("unshare") is None:
        return "the cuda stage needs unshare (util-linux)"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        return "the cuda stage makes a mount namespace, which is not allowed here (in a container: CAP_SYS_ADMIN)"
    lab = here()
    missing = [name for name in PARTS if not (lab.folder / f"{name}.made").is_file()]
    if missing:
        return f"{lab.folder} lacks {', '.join(missing)}: run python3 ci/install_cuda.py {lab.folder}"
    return None
