"""Writes the machines that were described by hand: `python -m tests.machines.describe`.

`founding*.json` are not among them: gpulaunch itself wrote those, inside a namespace of the cuda stage.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from launcher.facts.document import dump
from launcher.model import Caller, Driver, Facts, Folder, Gpu, Target, Torch, Unknown
from launcher.paths import SYSTEM_PATH
from tests.builders import PROGRAMS, facts, root, roots, target, toolkit

FOLDER = Path(__file__).parent
NO_NVML = Unknown(subject="gpus", because="NVML does not answer: NVML Shared Library Not Found")
SYSTEM = tuple(
    Folder(
        path=path,
        origin="system",
        real={"/sbin": "/usr/sbin", "/bin": "/usr/bin"}.get(path, path),
        programs=PROGRAMS.get(path, ()),
    )
    for path in SYSTEM_PATH
)
WITHOUT_CUDA = (root("/usr/local/cuda"), *(there for there in roots() if not there.release))
WITH_13 = (root("/usr/local/cuda", "13.0"), root("/usr/local/cuda-13.0", "13.0"), *WITHOUT_CUDA[1:])


def laptop() -> Facts:
    """No nvcc, no NVML, no target, an empty environment: `env -i gpulaunch ...` on a laptop."""
    bare = facts(
        target=None, toolkits=(), folders=SYSTEM, roots=WITHOUT_CUDA, gpus=None, driver=None, unknowns=(NO_NVML,)
    )
    host = replace(bare.host, cpus=8, memory=16 << 30)
    return replace(bare, host=host, caller=Caller(environ={}, cwd="/home/serve"), edited=("described by hand",))


def desktop() -> Facts:
    """A machine without a GPU where `pip install gpulaunch[demo]` was done: the target is gpulaunch's own Python."""
    own = Target(
        kind="python",
        path="/home/serve/demo/bin/python",
        how="profile target.python: self",
        prefix="/home/serve/demo",
        bin="/home/serve/demo/bin",
        version="3.12",
        site_packages=("/home/serve/demo/lib/python3.12/site-packages",),
        packages={"gguf": "0.19.0", "numpy": "2.3.0", "xllamacpp": "2026.10.11549"},
    )
    there = laptop()
    folders = (*SYSTEM, Folder(path=own.bin or "", origin="target", real=own.bin))
    launcher = replace(
        there.launcher, python=own.path, package="/home/serve/demo/lib/python3.12/site-packages/launcher"
    )
    environ = {"HOME": "/home/serve", "USER": "serve", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    caller = Caller(environ=environ, cwd="/home/serve")
    return replace(there, target=own, folders=folders, launcher=launcher, caller=caller)


def workstation() -> Facts:
    """One RTX 4090, vLLM 0.33.0 with torch for CUDA 13.0, and the toolkit 13.0 where everybody looks."""
    venv = "/opt/venvs/vllm"
    site = f"{venv}/lib/python3.12/site-packages"
    packages = {"vllm": "0.33.0", "torch": "2.14.0", "triton": "3.8.0", "flashinfer-python": "0.7.2.post1"}
    packages |= {
        "transformers": "5.24.0",
        **dict.fromkeys(("accelerate", "fastapi", "openai", "pydantic", "uvicorn"), "1"),
    }
    cuda = toolkit("/usr/local/cuda-13.0", "13.0", found=("nvcc on PATH in /usr/local/cuda/bin", "/usr/local/cuda"))
    bin_folder = "/usr/local/cuda/bin"
    return facts(
        environ={"HF_TOKEN": "hf_nobodysToken", "NCCL_DEBUG": "INFO", "LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
        target=replace(
            target(packages=packages),
            path=f"{venv}/bin/python",
            prefix=venv,
            bin=f"{venv}/bin",
            version="3.12",
            site_packages=(site,),
            torch=Torch(version="2.14.0+cu130", cuda="13.0", file=f"{site}/torch/version.py"),
        ),
        toolkits=(cuda,),
        folders=(
            Folder(
                path=bin_folder,
                origin="caller",
                real="/usr/local/cuda-13.0/bin",
                nvcc=f"{bin_folder}/nvcc",
                nvcc_root=cuda.root,
                programs=("nvcc",),
            ),
            *SYSTEM,
            Folder(path=f"{venv}/bin", origin="target", real=f"{venv}/bin", programs=("ninja",)),
        ),
        roots=WITH_13,
        gpus=(
            Gpu(
                index=0,
                name="NVIDIA GeForce RTX 4090",
                uuid="GPU-11111111-0000-4000-8000-000000000000",
                capability="8.9",
                memory_total=24_564 << 20,
            ),
        ),
        driver=Driver(version="590.48.01", cuda="13.1", how="NVML"),
        edited=("described by hand",),
    )


MACHINES = {"laptop": laptop, "desktop": desktop, "workstation": workstation}


def main() -> None:
    """Writes every file."""
    for name, make in MACHINES.items():
        (FOLDER / f"{name}.json").write_text(dump(make()), encoding="utf-8")


if __name__ == "__main__":
    main()
