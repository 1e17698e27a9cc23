"""The loader's real cache and a kernel driver's version file: which libcuda.so.1 a server would load, and what is said.

The library is a stand-in without a function; where it is found is decided by the machine's own ldconfig.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.lab import Lab
from tests.cuda.machine import Machine
from tests.cuda.situations import NEITHER, FoundingHost

pytestmark = pytest.mark.cuda

DRIVER = "580.95.05"
Installed = Callable[..., FoundingHost]
LOADED = """\
import ctypes
ctypes.CDLL("libcuda.so.1")
print({line.split()[-1] for line in open("/proc/self/maps") if "libcuda.so" in line}.pop())
"""


@pytest.fixture
def installed(lab: Lab, tmp_path: Path) -> Installed:
    """A host with this kernel driver, whose loader goes through these folders first."""

    def host(*folders: str) -> FoundingHost:
        (tmp_path / "driver/nvidia").mkdir(parents=True)
        said = f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {DRIVER}  Tue Sep 30 15:00:00 UTC 2025\n"
        (tmp_path / "driver/nvidia/version").write_text(said)
        library(tmp_path / "host", DRIVER)
        library(tmp_path / "cuda-12.9/compat", "575.57.08")
        conf, cached = tmp_path / "ld.so.conf", tmp_path / "ld.so.cache"
        conf.write_text("".join(f"{tmp_path}/{folder}\n" for folder in folders) + "include /etc/ld.so.conf\n")
        subprocess.run(["/sbin/ldconfig", "-X", "-C", cached, "-f", conf], check=True, capture_output=True)
        machine = Machine(tmp_path, places=(("/etc/ld.so.cache", cached), ("/proc/driver", tmp_path / "driver")))
        return FoundingHost(machine, lab.environment("founding"), NEITHER)

    return host


def library(folder: Path, version: str) -> None:
    """A library of that name, as a driver's installer leaves it."""
    folder.mkdir(parents=True)
    file = folder / f"libcuda.so.{version}"
    cc = ["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(file), "-x", "c", "-"]
    subprocess.run(cc, input="int stand_in_for_libcuda;\n", text=True, check=True)
    (folder / "libcuda.so.1").symlink_to(file.name)


def codes(plan: dict[str, Any]) -> dict[str, str]:
    """What was found of libcuda, by code."""
    return {one["code"]: one["message"] for one in plan["findings"] if one["code"].startswith("libcuda")}


def test_r048_vllm_34821_an_images_compat_folder_before_the_drivers_own(installed: Installed) -> None:
    host = installed("cuda-12.9/compat", "host")
    loads = host.machine.run(["python3", "-c", LOADED])
    assert loads.stdout.strip().endswith("compat/libcuda.so.575.57.08")
    said = codes(host.plan())["libcuda-older-than-driver"]
    assert "compat/libcuda.so.575.57.08 (by the loader's cache), of driver 575.57.08" in said
    assert f"the kernel's driver is {DRIVER}" in said


def test_r048_the_drivers_own_before_it(installed: Installed) -> None:
    host = installed("host", "cuda-12.9/compat")
    assert host.machine.run(["python3", "-c", LOADED]).stdout.strip().endswith(f"host/libcuda.so.{DRIVER}")
    assert codes(host.plan()) == {}
