"""A founding host: a private mount namespace whose /usr/local holds CUDA 12.8 and little else. Nothing outside changes.

CUDA 12.8 is a stand-in: an nvcc that says its release and compiles nothing, and an empty libcudart.so.12. Of the real
/usr/local only the Python under test is left, where it lives there (as in the official container images).
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# The first folder is what CUDA's installation guide tells people to put on PATH.
CALLERS_PATH = "/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SYSTEM_FOLDERS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin")

# The banner of CUDA 12.8 update 1.
_NVCC_12_8 = """#!/bin/sh
for word in "$@"; do
    case "$word" in
    --version | -V)
        echo "nvcc: NVIDIA (R) Cuda compiler driver"
        echo "Copyright (c) 2005-2025 NVIDIA Corporation"
        echo "Built on Fri_Feb_21_20:23:50_PST_2025"
        echo "Cuda compilation tools, release 12.8, V12.8.93"
        echo "Build cuda_12.8.r12.8/compiler.35583870_0"
        exit 0
        ;;
    esac
done
echo "nvcc fatal   : the stand-in for CUDA 12.8 compiles nothing" >&2
exit 1
"""


@dataclass(frozen=True)
class Machine:
    """`folder` is private to the test; `toolkit` is bound at /usr/local/cuda-13.0; `places` are more binds.

    A place is a path on this machine and the folder that is seen there. Not `stale`: it has no CUDA at all.
    `distribution` holds the files of a distribution's own CUDA, to be seen in /usr and /etc.
    """

    folder: Path
    stale: bool = True
    toolkit: Path | None = None
    places: tuple[tuple[str, Path], ...] = ()
    distribution: Path | None = None

    @property
    def home(self) -> Path:
        """The caller's home; caches and state of whatever runs here stay in it."""
        return self.folder / "home"

    def environ(self) -> dict[str, str]:
        """A login shell of a founding host: the stale toolkit first on PATH, nothing else set."""
        return {
            "PATH": CALLERS_PATH,
            "HOME": str(self.home),
            "USER": "root",
            "LANG": "C.UTF-8",
            "XDG_CACHE_HOME": f"{self.home}/.cache",
            "XDG_STATE_HOME": f"{self.home}/.local/state",
            "XDG_DATA_HOME": f"{self.home}/.local/share",
            "XDG_CONFIG_HOME": f"{self.home}/.config",
            "XDG_RUNTIME_DIR": f"{self.home}/run",
        }

    def run(
        self, command: Sequence[str | Path], *, environ: Mapping[str, str] | None = None, timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command on this machine, in its home. Standard output and error as text; any exit code."""
        entering = ["unshare", "--mount", "--propagation", "private", "sh", "-euc", self._script(), "sh"]
        return subprocess.run(
            [*entering, *map(str, command)],
            env=self.environ() if environ is None else dict(environ),
            cwd=self._home_made(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def _home_made(self) -> Path:
        (self.home / "run").mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.home

    def _script(self) -> str:
        """What makes the machine, once we are in a namespace of its own."""
        # The caller's PATH belongs to the command; these programs are the system's.
        lines = ["callers_path=$PATH", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        lines += self._usr_local()
        lines += _laid_over(self.distribution) if self.distribution else _other_compilers_hidden(self.folder / "hidden")
        for place, source in self.places:
            lines.append(f"mount --bind {shlex.quote(str(source))} {shlex.quote(place)}")
        return "\n".join([*lines, 'PATH=$callers_path exec "$@"'])

    def _usr_local(self) -> Iterator[str]:
        """Makes the stand-in, and says how it takes the place of the real one."""
        stand_in, before = self.folder / "usr-local", self.folder / "usr-local-before"
        stand_in.mkdir(exist_ok=True)
        if self.stale:
            _make_cuda_12_8(stand_in / "cuda-12.8")
            _point(stand_in / "cuda", "cuda-12.8")
        before.mkdir(exist_ok=True)
        yield f"mount --bind /usr/local {before}"
        kept = tuple(pythons_in(Path("/usr/local")))
        for path in kept:
            _make_place(stand_in / path.relative_to("/usr/local"), folder=path.is_dir())
        if self.toolkit:
            _make_place(stand_in / "cuda-13.0", folder=True)
        yield f"mount --bind {stand_in} /usr/local"
        for path in kept:
            yield f"mount --bind {before / path.relative_to('/usr/local')} {path}"
        if self.toolkit:
            yield f"mount --bind {self.toolkit} /usr/local/cuda-13.0"


def _make_cuda_12_8(root: Path) -> None:
    if root.exists():
        return
    (root / "bin").mkdir(parents=True)
    (root / "bin/nvcc").write_text(_NVCC_12_8)
    (root / "bin/nvcc").chmod(0o755)
    lib = root / "targets/x86_64-linux/lib"
    lib.mkdir(parents=True)
    (root / "lib64").symlink_to("targets/x86_64-linux/lib")
    cc = ["cc", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.12", "-o", str(lib / "libcudart.so.12"), "-x", "c", "-"]
    subprocess.run(cc, input="int stand_in_for_cuda_12_8;\n", text=True, check=True)


def _point(link: Path, to: str) -> None:
    if not link.is_symlink():
        link.symlink_to(to)


def _make_place(path: Path, *, folder: bool) -> None:
    """Something to bind onto."""
    if folder:
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def pythons_in(root: Path) -> Iterator[Path]:
    """The files and folders of the running Python's installation that lie below a root; none for most machines."""
    binary = Path(sys.executable).resolve()
    wanted = [binary, Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("include"))]
    wanted += sorted(Path(sysconfig.get_config_var("LIBDIR") or "/nonexistent").glob("libpython3*.so*"))
    # The other names of the binary: environments link to python3, not to python3.11.
    wanted += [path for path in sorted(binary.parent.glob("python*")) if path.resolve() == binary]
    for path in dict.fromkeys(wanted):
        if path.is_relative_to(root) and path.exists():
            yield path


def _laid_over(distribution: Path) -> Iterator[str]:
    """Its folders before the machine's own, as if it were installed; /usr/local stays what it was made."""
    for layer in (*sorted(distribution.glob("usr/*")), distribution / "etc"):
        place = f"/{layer.relative_to(distribution)}"
        yield f"mount -t overlay overlay -o lowerdir={shlex.quote(f'{layer}:{place}')} {place}"


def _other_compilers_hidden(hidden: Path) -> Iterator[str]:
    """A distribution's own nvcc would be one more candidate: an overlay with a whiteout hides it."""
    for folder in _SYSTEM_FOLDERS:
        if os.path.lexists(f"{folder}/nvcc") and not Path(folder).is_symlink():
            layer = hidden / folder.strip("/").replace("/", "-")
            layer.mkdir(parents=True, exist_ok=True)
            yield f"test -e {layer}/nvcc || mknod {layer}/nvcc c 0 0"
            yield f"mount -t overlay overlay -o lowerdir={layer}:{folder} {folder}"
    if Path("/opt/cuda").is_dir():
        (hidden / "opt-cuda").mkdir(parents=True, exist_ok=True)
        yield f"mount --bind {hidden}/opt-cuda /opt/cuda"
