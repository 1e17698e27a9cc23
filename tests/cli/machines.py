"""Machines for tests of the command line, written by hand."""

from __future__ import annotations

from launcher.facts.toolkits import PARTS
from launcher.model import (
    Caller,
    Driver,
    Facts,
    Folder,
    Gpu,
    Host,
    Launcher,
    Limit,
    Systemd,
    Target,
    Toolkit,
    Torch,
)


def founding(**caller_environ: str) -> Facts:
    """The founding host, with variables of the caller's."""
    environ = {"HOME": "/home/op", "USER": "op", "PATH": "/usr/local/cuda-12.8/bin:/usr/bin", "LANG": "C.UTF-8"}
    return Facts(
        launcher=Launcher(version="0.1.0", python="/opt/gpulaunch/bin/python", package="/opt/gpulaunch/launcher"),
        host=Host(
            system="Linux",
            machine="x86_64",
            kernel="6.8.0",
            pid1="systemd",
            uid=1000,
            user="op",
            home="/home/op",
            cpus=64,
            memory=2**39,
            usable_homes=("/home/op",),
        ),
        systemd=Systemd(booted=True, main_process=False, notify_socket=False, because="a shell started us"),
        caller=Caller(environ={**environ, **caller_environ}, cwd="/home/op"),
        target=Target(
            kind="python",
            path="/opt/venv/bin/python",
            how="--target",
            prefix="/opt/venv",
            bin="/opt/venv/bin",
            version="3.11",
            site_packages=("/opt/venv/lib/python3.11/site-packages",),
            packages={"sglang": "0.5.14", "torch": "2.11.0", "triton": "3.6.0", "flashinfer-python": "0.6.8"},
            torch=Torch(
                version="2.11.0+cu130", cuda="13.0", file="/opt/venv/lib/python3.11/site-packages/torch/version.py"
            ),
            python_header=True,
        ),
        toolkits=(
            _toolkit("12.8", "nvcc on PATH in /usr/local/cuda-12.8/bin"),
            _toolkit("13.0", "/usr/local/cuda-13.0"),
        ),
        folders=(
            Folder(
                path="/usr/local/cuda-12.8/bin",
                origin="caller",
                real="/usr/local/cuda-12.8/bin",
                nvcc="/usr/local/cuda-12.8/bin/nvcc",
                nvcc_root="/usr/local/cuda-12.8",
            ),
            Folder(path="/usr/bin", origin="system", real="/usr/bin"),
        ),
        programs={"gcc": "/usr/bin/gcc", "c++": "/usr/bin/c++"},
        gpus=tuple(_gpu(index) for index in range(8)),
        driver=Driver(version="580.95", cuda="13.0", how="NVML"),
        limits=(Limit(name="NOFILE", soft=1024, hard=524288),),
    )


def _toolkit(release: str, how: str) -> Toolkit:
    root = f"/usr/local/cuda-{release}"
    return Toolkit(
        root=root,
        kind="real",
        found=(how,),
        nvcc=f"{root}/bin/nvcc",
        release=release,
        headers_release=release,
        parts=tuple(PARTS),
    )


def _gpu(index: int) -> Gpu:
    return Gpu(
        index=index,
        name="NVIDIA RTX PRO 6000 Blackwell",
        uuid=f"GPU-{index:08d}",
        capability="12.0",
        memory_total=96 * 2**30,
    )
