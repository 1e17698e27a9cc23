#!/usr/bin/env python3
"""Installs what the `cuda` test stage needs: real torch cu130 and FlashInfer environments, and a CUDA 13.0 toolkit.

    python3 ci/install_cuda.py [FOLDER]        default: $GPULAUNCH_CUDA_LAB, else ~/.cache/gpulaunch-tests/cuda

Needs Linux on x86_64, Python 3.10 to 3.13 with venv and pip, a C compiler and a package index; no root, no GPU.
Everything is pinned, and a part that is there already is left alone. It writes nothing outside FOLDER.
Downloads 3.1 GB (torch 0.5, its NVIDIA libraries 1.7, Triton 0.2, compilers 0.6) and takes 5.7 GB of disk: the six
environments share their files by hard links. A minute on two cores where the index is near.
Where apt is (Debian, or Ubuntu with debian-archive-keyring) Debian's own CUDA 12.4 is fetched too, and not installed.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# What torch 2.11.0's metadata pins, directly and through cuda-toolkit 13.0.2, less what `import torch` does not need
# (cuSOLVER, NVRTC, NVTX, Triton, the CUDA bindings: 0.6 GB).
TORCH = (
    "torch==2.11.0",
    "nvidia-cublas==13.1.0.3",
    "nvidia-cuda-cupti==13.0.85",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cudnn-cu13==9.19.0.56",
    "nvidia-cufft==12.0.0.61",
    "nvidia-cufile==1.15.1.6",
    "nvidia-curand==10.4.0.35",
    "nvidia-cusparse==12.6.3.3",
    "nvidia-cusparselt-cu13==0.8.0",
    "nvidia-nccl-cu13==2.28.9",
    "nvidia-nvjitlink==13.0.88",
    "nvidia-nvshmem-cu13==3.4.5",
)
# What torch and FlashInfer import besides: releases that exist for every Python from 3.10 to 3.13.
SMALL = (
    "apache-tvm-ffi==0.1.11",
    "certifi==2025.8.3",
    "charset-normalizer==3.4.3",
    "click==8.2.1",
    "einops==0.8.1",
    "filelock==3.19.1",
    "fsspec==2025.7.0",
    "idna==3.10",
    "jinja2==3.1.6",
    "markupsafe==3.0.2",
    "mpmath==1.3.0",
    "networkx==3.4.2",
    "ninja==1.13.0",
    "numpy==2.2.6",
    "nvidia-ml-py==13.580.65",
    "packaging==25.0",
    "requests==2.32.5",
    "setuptools==80.9.0",
    "sympy==1.14.0",
    "tabulate==0.9.0",
    "tqdm==4.67.1",
    "typing-extensions==4.15.0",
    "urllib3==2.5.0",
)
REPORTED = ("flashinfer-python==0.6.8",)  # the release of the founding report
# sglang 0.5.14 with the FlashInfer that it pins, and what else of its dependencies a CUDA decision looks at.
SERVER = ("sglang==0.5.14", "flashinfer-python==0.6.12", "triton==3.6.0")
# nvcc, its headers, its optimiser and CCCL: with torch's nvidia-cuda-runtime they make a compiler of nvidia/cu13.
COMPILER = (
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-cccl==13.0.85",
)
# What `pip install sglang==0.5.14` resolved to in 2026, through cuda-tile[tileiras]: a compiler of other releases than
# the headers of CUDA 13.0 that torch pins.
MIXED_COMPILER = ("nvidia-cuda-nvcc==13.2.86", "nvidia-cuda-crt==13.5.37", "nvidia-nvvm==13.2.86")
# The newest compiler, which an unpinned requirement brings, beside the same headers.
NEWEST_COMPILER = ("nvidia-cuda-nvcc==13.5.37", "nvidia-cuda-crt==13.5.37", "nvidia-nvvm==13.5.37")
TOOLKIT = (*COMPILER, "nvidia-cuda-runtime==13.0.96", "nvidia-curand==10.4.0.35")
# A real nvcc of CUDA 12, which no wheel holds: Debian's, whose upstream release a suite keeps for good. Its headers
# (nvidia-cuda-dev, 0.9 GB) are not needed to be judged.
DEBIAN = ("deb http://deb.debian.org/debian trixie non-free", "nvidia-cuda-toolkit", "libnvvm4")
DEBIAN_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Part:
    """One folder of the lab: what it is made from (a change of it makes it anew), and how."""

    name: str
    made_from: tuple[str, ...]
    make: Callable[[Path], None]


def parts(lab: Path) -> tuple[Part, ...]:
    """In the order in which they are made: the later environments link to the files of earlier ones."""
    founding, server = lab / "founding", lab / "server"
    debian = (Part("debian-12.4", DEBIAN, _fetch_from_debian),) if _has_apt() else ()
    return (
        Part("founding", (*TORCH, *SMALL, *REPORTED), _make_first_environment),
        Part("founding-wheel", COMPILER, lambda folder: _make_from(founding, folder, COMPILER)),
        Part("server", SERVER, lambda folder: _make_from(founding, folder, SERVER)),
        Part("server-wheel", COMPILER, lambda folder: _make_from(server, folder, COMPILER)),
        Part("server-mixed", MIXED_COMPILER, lambda folder: _make_from(server, folder, MIXED_COMPILER)),
        Part("server-newest", NEWEST_COMPILER, lambda folder: _make_from(server, folder, NEWEST_COMPILER)),
        Part("toolkit-13.0", TOOLKIT, _make_toolkit),
        *debian,
    )


def main() -> int:
    """Makes every part that is not there in its present form; prints what took how long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=default_folder())
    lab: Path = parser.parse_args().folder.expanduser().absolute()
    problem = _unsuitable(lab)
    if problem:
        print(f"install_cuda: {problem}", file=sys.stderr)
        return 69
    lab.mkdir(parents=True, exist_ok=True)
    with _alone(lab):
        earlier: tuple[str, ...] = (str(lab), sys.base_prefix)
        for part in parts(lab):
            # A later part holds files of the earlier ones, so it is made anew with them.
            earlier += (part.name, *part.made_from)
            _have(part, lab, _stamp(earlier))
    if not _has_apt():
        print(f"debian-12.4: left out, because apt-get, dpkg-deb or {DEBIAN_KEYS} is missing")
    print(f"the lab of the cuda stage is complete: export GPULAUNCH_CUDA_LAB={lab}")
    return 0


def default_folder() -> Path:
    """Where the lab is when nobody says otherwise; the tests look in the same place."""
    return Path(os.environ.get("GPULAUNCH_CUDA_LAB") or "~/.cache/gpulaunch-tests/cuda")


def _unsuitable(lab: Path) -> str | None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return f"this is {platform.system()} on {platform.machine()}; the lab is made for Linux on x86_64"
    if not (3, 10) <= sys.version_info[:2] <= (3, 13):
        return f"this is Python {platform.python_version()}; the pinned releases exist for 3.10 to 3.13"
    if shutil.which("cc") is None:
        return "no C compiler (cc) on PATH; install gcc"
    if lab.is_relative_to("/usr/local"):
        return f"{lab} is below /usr/local, which the tests replace; name another folder"
    return None


def _stamp(made_from: tuple[str, ...]) -> str:
    text = json.dumps([platform.python_version(), *made_from])
    return hashlib.sha256(text.encode()).hexdigest()


def _have(part: Part, lab: Path, stamp: str) -> None:
    folder, marker = lab / part.name, lab / f"{part.name}.made"
    if folder.is_dir() and marker.is_file() and marker.read_text() == stamp:
        print(f"{part.name}: there", flush=True)
        return
    began = time.monotonic()
    marker.unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)
    part.make(folder)
    marker.write_text(stamp)
    print(f"{part.name}: made in {time.monotonic() - began:.0f} s", flush=True)


@contextmanager
def _alone(lab: Path) -> Iterator[None]:
    """Two installs at once take turns."""
    with (lab / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# --------------------------------------------------------------------------------------------------------------------
# Environments


def _make_first_environment(folder: Path) -> None:
    venv.create(folder, with_pip=True, symlinks=True)
    _install(folder, (*TORCH, *SMALL, *REPORTED))
    # Proves that it can be imported, and leaves the bytecode for the environments that link to it.
    _run([folder / "bin/python", "-c", "import torch, torch.utils.cpp_extension, flashinfer.jit; "
          "assert torch.version.cuda == '13.0', torch.version.cuda"])  # fmt: skip


def _make_from(origin: Path, folder: Path, more: tuple[str, ...]) -> None:
    """An environment of its own whose files are links to another one's: pip replaces files, it writes into none."""
    venv.create(folder, with_pip=False, symlinks=True)
    for part in (_site(origin).relative_to(origin), Path("bin")):
        for entry in sorted((origin / part).iterdir()):
            copy = folder / part / entry.name
            if os.path.lexists(copy):
                continue  # python itself, made by venv
            if entry.is_dir():
                shutil.copytree(entry, copy, symlinks=True, copy_function=os.link)
            elif part.name == "bin":
                _copy_program(entry, copy, origin, folder)
            else:
                os.link(entry, copy)
    _install(folder, more)


def _copy_program(program: Path, copy: Path, origin: Path, folder: Path) -> None:
    """The first line of a script names the environment it belongs to."""
    content = program.read_bytes()
    if content.startswith(b"#!"):
        content = content.replace(os.fsencode(origin / "bin"), os.fsencode(folder / "bin"), 1)
    copy.write_bytes(content)
    copy.chmod(program.stat().st_mode & 0o777)


def _site(environment: Path) -> Path:
    return environment / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def _install(environment: Path, requirements: tuple[str, ...]) -> None:
    _run([environment / "bin/python", "-m", "pip", "install", *_HOW, *requirements])


# No dependencies: every one is pinned above. No cache: it would keep every wheel a second time.
_HOW = ("--quiet", "--no-deps", "--no-cache-dir", "--no-compile", "--only-binary=:all:", "--disable-pip-version-check")


# --------------------------------------------------------------------------------------------------------------------
# A toolkit as NVIDIA's installer would leave it


def _make_toolkit(folder: Path) -> None:
    """A complete root from wheels: targets/x86_64-linux, unversioned names of libraries, a stub of libcuda."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as unpacked:
        _run([sys.executable, "-m", "pip", "install", "--target", unpacked, *_HOW, *TOOLKIT])
        shutil.move(Path(unpacked, "nvidia/cu13"), folder)
    target = folder / "targets/x86_64-linux"
    target.mkdir(parents=True)
    for name in ("lib", "include"):
        shutil.move(folder / name, target / name)
    for link, to in (("lib64", target / "lib"), ("include", target / "include")):
        (folder / link).symlink_to(to.relative_to(folder))
    for library in sorted((target / "lib").glob("lib*.so.*")):
        plain = library.with_name(library.name.partition(".so.")[0] + ".so")
        if not plain.exists():
            plain.symlink_to(library.name)
    _make_stub(target / "lib/stubs/libcuda.so")
    (folder / "version.json").write_text('{"cuda": {"name": "CUDA SDK", "version": "13.0.2"}}\n')


def _make_stub(library: Path) -> None:
    """What a linker asks of libcuda.so without a driver: a library of that name with something in it."""
    library.parent.mkdir()
    _run(
        ["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library, "-x", "c", "-"],
        text="int cuInit(unsigned int flags) { (void)flags; return 100; }\n",  # 100: CUDA_ERROR_NO_DEVICE
    )


# --------------------------------------------------------------------------------------------------------------------
# A distribution's toolkit


def _has_apt() -> bool:
    return all(shutil.which(program) for program in ("apt-get", "dpkg-deb")) and DEBIAN_KEYS.is_file()


def _fetch_from_debian(folder: Path) -> None:
    """Its files as they would lie below /. The machine's own apt learns nothing: lists, cache and state are private."""
    source, *packages = DEBIAN
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        private = Path(name)
        for needed in ("state/lists/partial", "cache/archives/partial"):
            (private / needed).mkdir(parents=True)
        (private / "status").touch()
        (private / "sources.list").write_text(source.replace("deb ", f"deb [arch=amd64 signed-by={DEBIAN_KEYS}] ", 1))
        settings = {
            "Dir::Etc::sourcelist": private / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::Etc::preferencesparts": "-",
            "Dir::State": private / "state",
            "Dir::State::status": private / "status",
            "Dir::Cache": private / "cache",
            "APT::Architecture": "amd64",
            "APT::Sandbox::User": "root",  # the folder is private: nobody else could write there
        }
        apt: list[str | Path] = ["apt-get", "-qq", *(f"--option={key}={value}" for key, value in settings.items())]
        _run([*apt, "update"])
        _run([*apt, "download", *packages], within=private)
        for package in sorted(private.glob("*.deb")):
            _run(["dpkg-deb", "--extract", package, folder])


def _run(command: list[str | Path], text: str | None = None, within: Path | None = None) -> None:
    done = subprocess.run(
        [str(word) for word in command],
        input=text,
        cwd=within,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise SystemExit(f"install_cuda: {command[0]} ends with {done.returncode}:\n{done.stdout[-4000:]}")


if __name__ == "__main__":
    sys.exit(main())
