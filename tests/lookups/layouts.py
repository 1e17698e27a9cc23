"""Machines that differ in what /usr/local/cuda and /usr/bin/nvcc are: mount namespaces, nothing outside changes.

All of them hold the same small toolkits in one folder: an nvcc that says its release and compiles nothing, and every
way for one to be broken.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cuda.machine import pythons_in

_BANNER = """#!/bin/sh
echo "nvcc: NVIDIA (R) Cuda compiler driver"
echo "Cuda compilation tools, release {release}, V{release}.1"
"""


@dataclass(frozen=True)
class Layout:
    """`usual` is what /usr/local/cuda is a link to (a name of `TOOLKITS`, "dangling", or None: it is not there).

    `distribution`: /usr/bin/nvcc of that release. `wrapper`: /usr/local/bin/nvcc is a script that runs that toolkit's.
    """

    name: str
    usual: str | None = None
    distribution: str | None = None
    wrapper: str | None = None


LAYOUTS = (
    Layout("bare"),
    Layout("stale", usual="cuda-12.8"),
    Layout("fresh", usual="cuda-13.0"),
    Layout("old", usual="cuda-12.4"),
    Layout("dangling", usual="dangling"),
    Layout("empty", usual="empty"),
    Layout("distribution", distribution="12.4"),
    Layout("wrapper", usual="cuda-12.8", wrapper="cuda-13.0"),
    Layout("broken", usual="forbidden"),
)

# Folder -> what its bin/nvcc is.
TOOLKITS: dict[str, str | None] = {
    "cuda-12.4": _BANNER.format(release="12.4"),
    "cuda-12.8": _BANNER.format(release="12.8"),
    "cuda-12.9": _BANNER.format(release="12.9"),
    "cuda-13.0": _BANNER.format(release="13.0"),
    "cuda-13.5": _BANNER.format(release="13.5"),
    "fails": "#!/bin/sh\nexit 127\n",
    "silent": "#!/bin/sh\necho no release at all\n",
    "no-comma": "#!/bin/sh\necho release 12.8 without its comma\n",
    "no-program": "neither a program nor a script\n",
    "forbidden": _BANNER.format(release="13.0"),
    "empty": None,
}


@dataclass(frozen=True)
class Stage:
    """The folder with the toolkits, made once; `run` puts a command on a machine of some layout."""

    folder: Path

    def make(self) -> None:
        """Every toolkit, and odd entries for PATH."""
        for name, nvcc in TOOLKITS.items():
            (self.folder / name / "bin").mkdir(parents=True)
            self._write(self.folder / name / "bin/ptxas", nvcc or "", runs=name != "forbidden") if nvcc else None
            if nvcc is not None:
                self._write(self.folder / name / "bin/nvcc", nvcc, runs=name != "forbidden")
        (self.folder / "file").write_text("a file\n")
        (self.folder / "link-13.0").symlink_to("cuda-13.0")
        (self.folder / "links").mkdir()
        (self.folder / "links/nvcc").symlink_to(self.folder / "cuda-13.0/bin/nvcc")
        self._write(self.folder / "shim/bin/nvcc", f'#!/bin/sh\nexec {self.folder}/cuda-13.0/bin/nvcc "$@"\n')
        (self.folder / "folder-called-nvcc/bin/nvcc").mkdir(parents=True)
        for name in ("which", "sh", "echo", "python3", "ls"):
            (self.folder / "few").mkdir(exist_ok=True)
            (self.folder / "few" / name).symlink_to(f"/usr/bin/{name}")
        self._write(self.folder / "ninja/ninja", "#!/bin/sh\n")
        for name in ("sh", "echo"):
            (self.folder / "without-which").mkdir(exist_ok=True)
            (self.folder / "without-which" / name).symlink_to(f"/usr/bin/{name}")

    @staticmethod
    def _write(path: Path, text: str, *, runs: bool = True) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if runs else 0o644)

    def run(self, command: Sequence[str | Path], *, environ: Mapping[str, str], text: str) -> str:
        """Standard output of a command, given `text` on standard input; its working folder holds nothing."""
        done = subprocess.run(
            [str(word) for word in command],
            input=text,
            env=dict(environ),
            cwd=self.folder / "empty",
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def script(self, layout: Layout) -> str:
        """What makes a machine of this layout, once we are in a mount namespace of its own."""
        return "\n".join(self._script(layout))

    def _script(self, layout: Layout) -> Iterator[str]:
        local = self.folder.with_name(f"{self.folder.name}-{layout.name}")
        (local / "local/bin").mkdir(parents=True, exist_ok=True)
        if layout.usual:
            link = local / "local/cuda"
            if not link.is_symlink():
                link.symlink_to(self.folder / layout.usual)
        if layout.wrapper:
            self._write(local / "local/bin/nvcc", f'#!/bin/sh\nexec {self.folder}/{layout.wrapper}/bin/nvcc "$@"\n')
        before = local / "before"
        before.mkdir(exist_ok=True)
        yield f"mount --bind /usr/local {before}"
        kept = tuple(pythons_in(Path("/usr/local")))
        for path in kept:
            place = local / "local" / path.relative_to("/usr/local")
            if path.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        yield f"mount --bind {local}/local /usr/local"
        for path in kept:
            yield f"mount --bind {before / path.relative_to('/usr/local')} {path}"
        yield from self._usr_bin(layout, local)

    def _usr_bin(self, layout: Layout, local: Path) -> Iterator[str]:
        """A layer over /usr/bin with the distribution's nvcc, or with none."""
        layer = local / "usr-bin"
        layer.mkdir(exist_ok=True)
        if layout.distribution:
            self._write(layer / "nvcc", _BANNER.format(release=layout.distribution))
        elif Path("/usr/bin/nvcc").exists():
            yield f"test -e {shlex.quote(str(layer))}/nvcc || mknod {layer}/nvcc c 0 0"
        else:
            return
        yield f"mount -t overlay overlay -o lowerdir={layer}:/usr/bin /usr/bin"
