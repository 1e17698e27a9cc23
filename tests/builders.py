"""Described machines and profiles for tests of decisions: state what the test is about, the rest is filled in.

The default machine is the founding one: torch 2.11.0 for CUDA 13.0 in the target, an old nvcc 12.8 first on PATH, eight
GPUs of compute capability 12.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from launcher.model import (
    Caller,
    Change,
    Driver,
    Facts,
    Finding,
    Folder,
    Gpu,
    Host,
    Launcher,
    Limit,
    Plan,
    Request,
    Root,
    Systemd,
    Target,
    Toolkit,
    Torch,
)
from launcher.planning import make_plan
from launcher.profile.asked import Asked
from launcher.profile.schema import Profile

VENV = "/opt/venvs/sglang"
SITE = f"{VENV}/lib/python3.11/site-packages"
COMPLETE = (
    "nvcc", "cicc", "ptxas", "cuda_runtime.h", "cuda_fp8.h", "curand_kernel.h", "cccl", "libcudart.so", "libcuda-stub",
    "lib64", "libcudart.so.N", "curand.h", "cublasLt.h",
)  # fmt: skip
PACKAGES = {"sglang": "0.5.14", "torch": "2.11.0", "triton": "3.6.0", "flashinfer-python": "0.6.8"}
ENVIRON = {
    "HOME": "/home/serve",
    "USER": "serve",
    "LOGNAME": "serve",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
}


def toolkit(root: str = "/usr/local/cuda-12.8", release: str = "12.8", **changes: Any) -> Toolkit:
    """A complete toolkit; by default the stale one, found as a login shell finds it."""
    found = changes.pop("found", (root,))
    filled: dict[str, Any] = {
        "kind": "real",
        "nvcc": f"{root}/bin/nvcc",
        "headers_release": release,
        "parts": COMPLETE,
        **changes,
    }
    return Toolkit(root=root, release=release, found=found, **filled)


STALE = toolkit(found=("nvcc on PATH in /usr/local/cuda/bin", "/usr/local/cuda", "/usr/local/cuda-12.8"))
SYSTEM_13 = toolkit("/usr/local/cuda-13.0", "13.0")
WHEEL_13 = toolkit(
    f"{SITE}/nvidia/cu13",
    "13.0",
    kind="wheel",
    found=("the target's wheels",),
    parts=tuple(part for part in COMPLETE if part not in ("libcudart.so", "libcuda-stub", "lib64")),
    wheels={"nvidia-cuda-nvcc": "13.0.88", "nvidia-cuda-runtime": "13.0.96"},
)


def gpus(count: int = 8, capability: str = "12.0") -> tuple[Gpu, ...]:
    """So many equal GPUs."""
    return tuple(
        Gpu(
            index=index,
            name="NVIDIA RTX PRO 6000 Blackwell Server Edition",
            uuid=f"GPU-0000000{index}-0000-4000-8000-000000000000",
            capability=capability,
            memory_total=97_887 << 20,
        )
        for index in range(count)
    )


def target(*, packages: Mapping[str, str] | None = None, cuda: str | None = "13.0", **changes: Any) -> Target:
    """A readable virtual environment with sglang in it."""
    filled: dict[str, Any] = {
        "kind": "python",
        "path": f"{VENV}/bin/python",
        "how": "--target",
        "prefix": VENV,
        "bin": f"{VENV}/bin",
        "version": "3.11",
        "site_packages": (SITE,),
        "packages": PACKAGES if packages is None else dict(packages),
        "torch": Torch(version="2.11.0+cu130", cuda=cuda, file=f"{SITE}/torch/version.py"),
        **changes,
    }
    return Target(**filled)


# What a system with a compiler brings, of the programs that libraries look for.
PROGRAMS = {
    "/usr/sbin": ("ldconfig",),
    "/sbin": ("ldconfig",),
    "/usr/bin": ("which", "c++", "g++", "gcc", "cc"),
    "/bin": ("which", "c++", "g++", "gcc", "cc"),
}


def folders() -> tuple[Folder, ...]:
    """The caller's PATH, the system's directories and the target's bin: only the first holds an nvcc."""
    cuda = "/usr/local/cuda/bin"
    stale = Folder(
        path=cuda,
        origin="caller",
        real="/usr/local/cuda-12.8/bin",
        nvcc=f"{cuda}/nvcc",
        nvcc_root="/usr/local/cuda-12.8",
        programs=("nvcc",),
    )
    plain = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin")
    links = {"/sbin": "/usr/sbin", "/bin": "/usr/bin"}
    return (
        stale,
        *(Folder(path=path, origin="system", real=path, programs=PROGRAMS.get(path, ())) for path in plain),
        *(Folder(path=path, origin="system", real=real, programs=PROGRAMS[path]) for path, real in links.items()),
        Folder(path=f"{VENV}/bin", origin="target", real=f"{VENV}/bin", programs=("ninja",)),
    )


def root(path: str, release: str | None = None, **changes: Any) -> Root:
    """What stands at a spelling: a folder with an nvcc that says its release, or nothing."""
    there: dict[str, Any] = {
        "state": "folder",
        "nvcc": "runs",
        "release": release,
        "holds": ("lib64", "include", "bin"),
    }
    nothing: dict[str, Any] = {"state": "missing", "nvcc": "missing"}
    return Root(path=path, **{**(there if release else nothing), **changes})


def roots() -> tuple[Root, ...]:
    """The usual spellings; by default /usr/local/cuda is the stale 12.8."""
    return (
        root("/usr/local/cuda", "12.8"),
        root("/usr/local/cuda-12.8", "12.8"),
        root("/usr/local/cuda-13.0", "13.0"),
        root("/opt/cuda"),
        root("/usr", state="folder", holds=("lib", "lib64", "include", "bin")),
        root("/usr/local", state="folder"),
        root(""),
    )


def facts(*, environ: Mapping[str, str] | None = None, **changes: Any) -> Facts:
    """The founding host, with changes."""
    filled: dict[str, Any] = {
        "launcher": Launcher(
            version="0.1.0", python="/opt/gpulaunch/bin/python", package="/opt/gpulaunch/lib/python3.11/launcher"
        ),
        "host": Host(
            system="Linux",
            machine="x86_64",
            kernel="6.8.0",
            pid1="systemd",
            uid=1000,
            user="serve",
            home="/home/serve",
            cpus=64,
            memory=1 << 40,
            usable_homes=("/home/serve",),
        ),
        "systemd": Systemd(
            booted=True, main_process=False, notify_socket=False, because="no variable of systemd's is set"
        ),
        "caller": Caller(environ=ENVIRON if environ is None else {**ENVIRON, **environ}, cwd="/srv"),
        "target": target(),
        "toolkits": (STALE,),
        "folders": folders(),
        "roots": roots(),
        "gpus": gpus(),
        "driver": Driver(version="580.95.05", cuda="13.0", how="NVML"),
        "limits": (
            Limit(name="NOFILE", soft=1024, hard=524_288),
            Limit(name="MEMLOCK", soft=8 << 20, hard=-1),
            Limit(name="NPROC", soft=4096, hard=8192),
            Limit(name="CORE", soft=-1, hard=-1),
        ),
        **changes,
    }
    return Facts(**filled)


def asked(text: Mapping[str, Any] | None = None, **keys: Any) -> Asked:
    """A validated profile; by default sglang on eight GPUs. Numbers stand as text, as the loader leaves them."""
    tree = {
        "schema": "1",
        "name": "test",
        "engine": "sglang",
        "model": "/models/kimi",
        "args": {"tp-size": "8"},
        "gpus": {"count": "8", "capability": "12.0"},
        **(text or {}),
        **keys,
    }
    return Asked(profile=Profile.model_validate(tree), file="test.yaml", folder=None)


def plan(wish: Asked | None = None, here: Facts | None = None, request: Request | None = None) -> Plan:
    """The plan for a profile on a machine."""
    return make_plan(wish or asked(), here or facts(), request or Request())


def codes(made: Plan) -> set[str]:
    """The codes of a plan's findings."""
    return {finding.code for finding in made.findings}


def finding(made: Plan, code: str) -> Finding:
    """The one finding with a code."""
    (found,) = (entry for entry in made.findings if entry.code == code)
    return found


def change(made: Plan, name: str) -> Change:
    """What happens to a variable."""
    (found,) = (entry for entry in made.changes if entry.name == name)
    return found
