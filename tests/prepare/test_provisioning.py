"""Toolkits made from wheels: whole and proven, or not at all. The wheels are tiny ones; what they compile is C."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from launcher import pinned_wheels
from launcher.errors import Refused
from launcher.facts import toolkits as looking
from launcher.prepare import provisioning
from launcher.prepare.failure import Failure
from launcher.prepare.provisioning import store
from tests.helpers import eventually

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="nvcc and its stand-in need a C++ compiler")

# Compiles C where the real one compiles CUDA; waits where the test says so.
_NVCC = """#!/bin/sh
[ "$1" = --version ] && {{ echo "Cuda compilation tools, release {release}, V{release}.88"; exit 0; }}
[ -e {gate} ] && cat {gate} >/dev/null
echo 'int run(void) {{ return 0; }}' | cc -x c -fPIC -c - -o kernel.o
"""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """Where the compiler waits, once it is a FIFO."""
    return tmp_path / "gate"


@pytest.fixture
def wheels(tmp_path: Path, gate: Path) -> Path:
    """A folder with every wheel of 13.0."""
    return make_wheels(tmp_path / "index", gate, "13.0")


def make_wheels(folder: Path, gate: Path, says: str) -> Path:
    """The pinned wheels of 13.0, with an nvcc that says a release."""
    folder.mkdir()
    library = folder / "libcudart.so.13"
    cc = ["cc", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.13", "-x", "c", "-", "-o", str(library)]
    subprocess.run(cc, input="int cudaGetLastError(void) { return 0; }\n", text=True, check=True)
    content: dict[str, dict[str, bytes]] = {
        "nvidia-cuda-nvcc": {"bin/nvcc": _NVCC.format(release=says, gate=gate).encode()},
        "nvidia-nvvm": {"nvvm/bin/cicc": b""},
        "nvidia-cuda-runtime": {
            "include/cuda_runtime.h": b"",
            "include/cuda_runtime_api.h": b"#define CUDART_VERSION 13000\n",
            "lib/libcudart.so.13": library.read_bytes(),
        },
    }
    library.unlink()
    for wheel in pinned_wheels.RELEASES["13.0"]:
        _make_wheel(folder, wheel, content.get(wheel.name, {f"include/{wheel.name}.h": b""}))
    return folder


def _make_wheel(folder: Path, wheel: pinned_wheels.Wheel, files: dict[str, bytes]) -> None:
    name = wheel.name.replace("-", "_")
    info = f"{name}-{wheel.version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{wheel.version}-py3-none-any.whl", "w") as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(f"nvidia/cu13/{path}")
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {wheel.name}\nVersion: {wheel.version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def add(data: Path, wheels: Path, *more: str) -> subprocess.Popen[str]:
    """`gpulaunch toolkit add 13.0` in a process of its own."""
    environ = {**os.environ, "XDG_DATA_HOME": str(data), "HOME": str(data)}
    command = [sys.executable, "-m", "launcher", "toolkit", "add", "13.0", "--find-links", str(wheels), *more]
    return subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True, start_new_session=True)


def left(data: Path) -> list[str]:
    """What stands in the folder of toolkits."""
    folder = data / "gpulaunch/toolkits"
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock") if folder.is_dir() else []


def test_wheels_become_a_toolkit_that_looking_finds_whole(tmp_path: Path, wheels: Path) -> None:
    steps: list[provisioning.Step] = []
    root = provisioning.add("13.0", str(tmp_path / "data"), find_links=[str(wheels)], tell=steps.append)
    assert root == tmp_path / "data/toolkits/13.0"
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done == 1.0
    found, _ = looking.look(looking.Surroundings({}, data=str(tmp_path / "data")))
    (toolkit,) = (entry for entry in found if entry.kind == "provisioned")
    assert (toolkit.root, toolkit.release, toolkit.headers_release) == (str(root), "13.0", "13.0")
    assert {"nvcc", "cicc", "lib64", "libcudart.so", "libcuda-stub"} <= set(toolkit.parts)
    assert [made.release for made in store.toolkits(str(tmp_path / "data"))] == ["13.0"]


def test_a_toolkit_that_is_there_is_not_made_again(tmp_path: Path, wheels: Path) -> None:
    root = provisioning.add("13.0", str(tmp_path), find_links=[str(wheels)])
    before = root.stat().st_ino
    shutil.rmtree(wheels)
    assert provisioning.add("13.0", str(tmp_path), find_links=[str(wheels)]) == root
    assert root.stat().st_ino == before


def test_an_unproven_toolkit_is_none(tmp_path: Path, gate: Path) -> None:
    wrong = make_wheels(tmp_path / "wrong", gate, "13.2")
    with pytest.raises(Failure, match=r"not of CUDA 13\.0"):
        provisioning.add("13.0", str(tmp_path / "gpulaunch"), find_links=[str(wrong)])
    assert left(tmp_path) == []


def test_a_missing_wheel_is_named_in_pips_words(tmp_path: Path, wheels: Path) -> None:
    next(wheels.glob("nvidia_nvvm*")).unlink()
    with pytest.raises(Failure, match=r"nvidia-nvvm==13\.0\.88") as caught:
        provisioning.add("13.0", str(tmp_path / "gpulaunch"), find_links=[str(wheels)])
    assert "--find-links" in caught.value.fix
    assert left(tmp_path) == []


@pytest.mark.parametrize("release", ["12.8", "11.8", "13.99", "../13.0", ""])
def test_a_release_without_wheels_is_refused_before_anything_is_fetched(tmp_path: Path, release: str) -> None:
    with pytest.raises(Refused) as caught:
        provisioning.add(release, str(tmp_path / "gpulaunch"))
    assert caught.value.exit_code == 78
    assert left(tmp_path) == []


def test_both_machines_that_nvidia_has_wheels_for_can_make_one() -> None:
    for machine in ("x86_64", "aarch64"):
        assert pinned_wheels.can_be_made("13.0", machine)
    assert not pinned_wheels.can_be_made("13.0", "riscv64")
    assert "riscv64" in pinned_wheels.why_not("13.0", "riscv64")


def test_two_at_once_take_turns_and_make_one(tmp_path: Path, wheels: Path) -> None:
    both = [add(tmp_path, wheels) for _ in range(2)]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("compiling and linking" in text for text in said) == 1
    assert left(tmp_path) == ["13.0"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_one_leaves_nothing(tmp_path: Path, wheels: Path, gate: Path, number: int) -> None:
    os.mkfifo(gate)
    process = add(tmp_path, wheels)
    with _reached(gate):
        os.kill(process.pid, number)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert left(tmp_path) == []


def test_what_a_killed_one_left_is_removed_by_the_next(tmp_path: Path, wheels: Path, gate: Path) -> None:
    os.mkfifo(gate)
    process = add(tmp_path, wheels)
    with _reached(gate):
        process.kill()
        process.communicate(timeout=60)
    assert left(tmp_path) != []
    assert store.toolkits(f"{tmp_path}/gpulaunch") == ()
    gate.unlink()
    eventually(lambda: provisioning.add("13.0", f"{tmp_path}/gpulaunch", find_links=[str(wheels)]))
    assert left(tmp_path) == ["13.0"]


class _reached:
    """Returns once the compiler waits at the gate; lets it go on afterwards."""

    def __init__(self, gate: Path) -> None:
        self.gate = gate

    def __enter__(self) -> None:
        self.writer = os.open(self.gate, os.O_WRONLY)  # blocks until there is a reader

    def __exit__(self, *ignored: object) -> None:
        os.close(self.writer)


def test_a_removed_one_is_gone(tmp_path: Path, wheels: Path) -> None:
    root = provisioning.add("13.0", str(tmp_path / "gpulaunch"), find_links=[str(wheels)])
    store.remove(root)
    assert left(tmp_path) == []
