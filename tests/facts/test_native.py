"""What compiled modules need is read from their own dynamic sections, and looked up; nothing is loaded."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.facts import loader, native
from launcher.facts.elf import needed
from launcher.facts.target import read_python
from tests.facts import elf_files
from tests.facts.trees import site

NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)


@given(st.lists(NAMES, max_size=6))
def test_what_is_needed_is_read_in_order(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    file = elf_files.write(tmp_path_factory.mktemp("elf") / "a.so", names)
    assert needed(file) == tuple(names)


@given(st.binary(max_size=400), st.integers(0, 400))
def test_any_bytes_are_no_mistake(tmp_path_factory: pytest.TempPathFactory, noise: bytes, cut: int) -> None:
    file = tmp_path_factory.mktemp("elf") / "a.so"
    whole = elf_files.library(["libcudart.so.13"])
    for content in (noise, whole[:cut], whole[:cut] + noise, whole[:cut] + noise + whole[cut + len(noise) :]):
        file.write_bytes(content)
        assert all(isinstance(name, str) for name in needed(file))


def test_a_file_that_is_not_there_needs_nothing(tmp_path: Path) -> None:
    assert needed(tmp_path / "nowhere.so") == ()
    assert needed(tmp_path) == ()


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf (binutils) is not installed")
def test_readelf_says_the_same_of_a_real_program() -> None:
    program = Path(sys.executable).resolve()
    said = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    named = [line.partition("[")[2].rstrip("]") for line in said.splitlines() if "(NEEDED)" in line]
    assert needed(program) == tuple(named)
    assert named


def test_each_library_is_looked_up_in_the_targets_wheels(tmp_path: Path) -> None:
    packages = site(tmp_path, "sglang_kernel-0.4.10")
    module = elf_files.write(
        packages / "sgl_kernel/sm100/common_ops.abi3.so",
        ["libtorch.so", "libnvrtc.so.12", "libcudart.so.99", "libcuda.so.1", "libc.so.6"],
    )
    nvrtc = elf_files.write(packages / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
    (found,) = native.look(read_python(tmp_path / "bin/python", "--target"))
    assert (found.package, found.file) == ("sglang-kernel", str(module))
    assert found.needs == {"libnvrtc.so.12": str(nvrtc), "libcudart.so.99": None}


def test_a_module_without_cuda_and_one_of_a_package_that_is_not_installed_do_not_count(tmp_path: Path) -> None:
    packages = site(tmp_path, "sglang_kernel-0.4.10")
    elf_files.write(packages / "sgl_kernel/plain_ops.so", ["libc.so.6"])
    elf_files.write(packages / "vllm/_C.abi3.so", ["libcudart.so.13"])
    assert native.look(read_python(tmp_path / "bin/python", "--target")) == ()


def test_the_loader_says_every_path_of_a_name_in_its_order() -> None:
    said = """\
3 libs found in cache `/etc/ld.so.cache'
\tlibcudart.so.12 (libc6,x86-64) => /usr/local/cuda/lib64/libcudart.so.12
\tlibcudart.so.12 (libc6,x86-64) => /opt/other/libcudart.so.12
\tlibz.so.1 (libc6,x86-64) => /lib/libz.so.1
"""
    assert loader.parse(said) == (
        ("libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so.12"),
        ("libcudart.so.12", "/opt/other/libcudart.so.12"),
        ("libz.so.1", "/lib/libz.so.1"),
    )
