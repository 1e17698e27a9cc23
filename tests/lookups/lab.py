"""What `ci/install_lookups.py` left: one environment with torch, and each release of a library in its own folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Lab:
    """The folder of the lab."""

    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter of the environment that every library is imported in."""
        return self.folder / "base/bin/python"

    @property
    def site_packages(self) -> Path:
        """Where that environment keeps its packages."""
        (site,) = self.folder.glob("base/lib/python3.*/site-packages")
        return site

    def library(self, name: str) -> Path:
        """The folder of one release of a library."""
        return self.folder / name


def here() -> Lab:
    """The lab of this machine, complete or not."""
    return Lab(
        Path(os.environ.get("GPULAUNCH_LOOKUPS_LAB") or "~/.cache/gpulaunch-tests/lookups").expanduser().absolute()
    )


def why_not() -> str | None:
    """Why the stage cannot run here, as one sentence; None where it can."""
    if os.geteuid() != 0:
        return "the lookups stage puts another /usr/local and /usr/bin in mount namespaces of its own: run it as root"
    if shutil.which("unshare") is None:
        return "the lookups stage needs unshare (util-linux)"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        return "the lookups stage makes mount namespaces, which is not allowed here (in a container: CAP_SYS_ADMIN)"
    if not (here().folder / "base.made").is_file():
        return f"{here().folder} is not complete: run python3 ci/install_lookups.py {here().folder}"
    return None
