#!/usr/bin/env python3
"""Installs what the `lookups` test stage needs: the libraries whose own lookup of CUDA is compared with ours.

    python3 ci/install_lookups.py [FOLDER]      default: $GPULAUNCH_LOOKUPS_LAB, else ~/.cache/gpulaunch-tests/lookups

Needs Linux on x86_64, Python 3.10 to 3.13 with venv and pip, and a package index; no root, no GPU. Everything is
pinned, a part that is there already is left alone, and nothing outside FOLDER is written. One environment holds torch
and what the libraries import; each release of a library lies in a folder of its own, to be put before it.
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
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Any build of torch serves: its CUDA release is said to it. Where the index has only a CUDA build, its libraries come.
TORCH = ("torch==2.13.0",)
SMALL = (
    "apache-tvm-ffi==0.1.11",
    "click==8.2.1",
    "einops==0.8.1",
    "ninja==1.13.0",
    "numpy==2.2.6",
    "nvidia-ml-py==13.580.65",
    "packaging==25.0",
    "requests==2.32.5",
    "setuptools==80.9.0",
    "tabulate==0.9.0",
    "tqdm==4.67.1",
)
FLASHINFER = ("0.5.0", "0.5.3", "0.6.8", "0.6.12", "0.7.0", "0.7.2", "0.7.4")

# Folder -> what is installed into it, without dependencies.
LIBRARIES: dict[str, tuple[str, ...]] = {
    **{f"flashinfer-{version}": (f"flashinfer-python=={version}",) for version in FLASHINFER},
    "cuda-pathfinder": ("cuda-pathfinder==1.9.1",),
    "deep-gemm-0.1.3": ("sgl-deep-gemm==0.1.3",),
    "deep-gemm-0.2.3": ("sgl-deep-gemm==0.2.3.post2",),
    "nvcc-wheel": ("nvidia-cuda-nvcc==13.0.88",),
    "tilelang": ("tilelang==0.1.12",),
    "triton": ("triton==3.8.0",),
}
# One file of vLLM is asked; what it imports of vLLM has a stand-in, for the whole would need a GPU.
VLLM = ("vllm==0.33.0",)
VLLM_FILE = "vllm/utils/flashinfer.py"
STAND_INS = {
    "vllm/__init__.py": "",
    "vllm/utils/__init__.py": "",
    "vllm/envs.py": (
        "import os\n\n\ndef __getattr__(name):\n"
        "    if name == 'VLLM_HAS_FLASHINFER_CUBIN':\n        return os.environ.get(name) == '1'\n"
        "    raise AttributeError(name)\n"
    ),
    "vllm/logger.py": (
        "class Silent:\n    def __getattr__(self, name):\n        return lambda *words, **more: None\n\n\n"
        "def init_logger(name):\n    return Silent()\n"
    ),
    "vllm/platforms.py": "current_platform = None\n",
    "vllm/utils/math_utils.py": "cdiv = None\n",
    "vllm/utils/torch_utils.py": (
        "PIN_MEMORY = False\n\n\ndef direct_register_custom_op(*words, **more):\n    return None\n"
    ),
}
_HOW = ("--quiet", "--no-cache-dir", "--no-compile", "--only-binary=:all:", "--disable-pip-version-check")


def main() -> int:
    """Makes every part that is not there in its present form; prints what took how long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=default_folder())
    lab: Path = parser.parse_args().folder.expanduser().absolute()
    problem = _unsuitable()
    if problem:
        print(f"install_lookups: {problem}", file=sys.stderr)
        return 69
    lab.mkdir(parents=True, exist_ok=True)
    with (lab / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _have(lab, "base", (*TORCH, *SMALL))
        _have(lab, "vllm", (*VLLM, *STAND_INS.values()))
        with ThreadPoolExecutor(2) as pool:
            for _ in pool.map(lambda name: _have(lab, name, LIBRARIES[name]), LIBRARIES):
                pass
    print(f"the lab of the lookups stage is complete: export GPULAUNCH_LOOKUPS_LAB={lab}")
    return 0


def default_folder() -> Path:
    """Where the lab is when nobody says otherwise; the tests look in the same place."""
    return Path(os.environ.get("GPULAUNCH_LOOKUPS_LAB") or "~/.cache/gpulaunch-tests/lookups")


def parts() -> tuple[str, ...]:
    """Every folder of the lab."""
    return ("base", "vllm", *LIBRARIES)


def _unsuitable() -> str | None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return f"this is {platform.system()} on {platform.machine()}; the lab is made for Linux on x86_64"
    if not (3, 10) <= sys.version_info[:2] <= (3, 13):
        return f"this is Python {platform.python_version()}; the pinned releases exist for 3.10 to 3.13"
    return None


def _have(lab: Path, name: str, requirements: tuple[str, ...]) -> None:
    folder, marker = lab / name, lab / f"{name}.made"
    stamp = hashlib.sha256(json.dumps([str(lab), platform.python_version(), *requirements]).encode()).hexdigest()
    if folder.is_dir() and marker.is_file() and marker.read_text() == stamp:
        print(f"{name}: there", flush=True)
        return
    began = time.monotonic()
    marker.unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)
    if name == "base":
        venv.create(folder, with_pip=True, symlinks=True)
        _run([folder / "bin/python", "-m", "pip", "install", *_HOW, *requirements])
    elif name == "vllm":
        _make_vllm(lab, folder)
    else:
        python = lab / "base/bin/python"
        _run([python, "-m", "pip", "install", *_HOW, "--no-deps", "--target", folder, *requirements])
    marker.write_text(stamp)
    print(f"{name}: made in {time.monotonic() - began:.0f} s", flush=True)


def _make_vllm(lab: Path, folder: Path) -> None:
    """The one file, between stand-ins."""
    with tempfile.TemporaryDirectory(dir=lab) as fetched:
        how = [*_HOW[:2], *_HOW[3:]]  # --no-compile is install's
        _run([lab / "base/bin/python", "-m", "pip", "download", *how, "--no-deps", "--dest", fetched, *VLLM])
        (wheel,) = Path(fetched).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(VLLM_FILE, folder)
    for path, text in STAND_INS.items():
        (folder / path).write_text(text)


def _run(command: list[str | Path]) -> None:
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f"install_lookups: {command[0]} ends with {done.returncode}:\n{done.stdout[-4000:]}")


if __name__ == "__main__":
    sys.exit(main())
