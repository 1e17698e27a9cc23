"""Reports whose cause is the driver's library: another one is loaded, none is found, or a part is the system's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from launcher.model import Driver, Facts, LibraryFolder, Severity, SystemLibrary
from launcher.profile.asked import Asked
from tests.builders import PACKAGES, SYSTEM_13, asked, change, codes, facts, finding, plan, target, toolkit

LIB = "/usr/lib/x86_64-linux-gnu"
OWN = SystemLibrary(name="libcuda.so.1", path=f"{LIB}/libcuda.so.1", real=f"{LIB}/libcuda.so.580.95.05", cached=True)


def compat(version: str, folder: str = "/usr/local/cuda/compat") -> SystemLibrary:
    """A toolkit's, as an image's ld.so.conf makes the loader find it."""
    real = f"/usr/local/cuda-12.9/compat/libcuda.so.{version}"
    return SystemLibrary(name="libcuda.so.1", path=f"{folder}/libcuda.so.1", real=real, cached=True)


def machine(*libraries: SystemLibrary, driver: str = "580.95.05", **changes: Any) -> Facts:
    """A host whose loader finds these."""
    known = Driver(version=driver, cuda="13.0", how="NVML")
    return facts(system_libraries=libraries, driver=known, **{"toolkits": (SYSTEM_13,), **changes})


def test_r048_vllm_34821_a_compat_library_that_is_older_than_the_driver_is_an_error() -> None:
    shadowed = plan(here=machine(compat("575.57.08"), OWN))
    said = finding(shadowed, "libcuda-older-than-driver")
    assert "/usr/local/cuda-12.9/compat/libcuda.so.575.57.08 (by the loader's cache)" in said.message
    assert "the kernel's driver is 580.95.05" in said.message
    assert "error 803" in said.message
    assert f"LD_LIBRARY_PATH: {LIB}" in said.fix
    assert (said.severity, said.exit_code, shadowed.blocked) == (Severity.ERROR, 69, True)
    # The driver's own before it: all is well; so it is with a compat library of the very driver.
    assert "libcuda-older-than-driver" not in codes(plan(here=machine(OWN, compat("575.57.08"))))
    assert "libcuda-older-than-driver" not in codes(plan(here=machine(compat("580.95.05"), OWN)))


def test_r048_the_fix_that_is_named_mends_it() -> None:
    folder = LibraryFolder(path=LIB, exists=True, libraries=("libcuda.so.1",), libcuda=OWN.real)
    wish = asked(env={"set": {"LD_LIBRARY_PATH": LIB}})
    mended = plan(wish, machine(compat("575.57.08"), OWN, library_folders=(folder,)))
    assert "libcuda-older-than-driver" not in codes(mended)


def test_r048_a_profile_that_puts_an_older_one_into_ld_library_path_is_told() -> None:
    old = "/usr/local/cuda-12.9/compat"
    folder = LibraryFolder(path=old, exists=True, libcuda=f"{old}/libcuda.so.575.57.08")
    made = plan(asked(env={"set": {"LD_LIBRARY_PATH": old}}), machine(OWN, library_folders=(folder,)))
    assert finding(made, "libcuda-older-than-driver").fix == f"Take it out of LD_LIBRARY_PATH: {old}."


def test_wsls_library_has_no_version_in_its_name_and_is_not_compared() -> None:
    wsl = "/usr/lib/wsl/lib"
    library = SystemLibrary(name="libcuda.so.1", path=f"{wsl}/libcuda.so.1", real=f"{wsl}/libcuda.so.1.1", cached=True)
    assert "libcuda-older-than-driver" not in codes(plan(here=machine(library)))


def with_compat(version: str | None) -> tuple[Asked, Facts]:
    """An old driver, and a profile that puts the toolkit's compat folder first where there is one."""
    there = "/usr/local/cuda-13.0/compat"
    real = f"{there}/libcuda.so.{version}" if version else None
    folder = LibraryFolder(path=there, exists=version is not None, libcuda=real)
    wish = asked(env={"set": {"LD_LIBRARY_PATH": there}})
    return wish, machine(
        replace(OWN, real=f"{LIB}/libcuda.so.570.86.15"), driver="570.86.15", library_folders=(folder,)
    )


def test_r050_molt_44_a_compat_folder_counts_where_the_driver_is_older_and_is_offered_there() -> None:
    wish, old = with_compat("580.95.05")
    assert "driver-too-old" not in codes(plan(wish, old))
    assert plan(wish, old).toolkit.root == SYSTEM_13.root
    # Without it the driver is too old; the folder is named only if a toolkit has one.
    bare = asked()
    assert "compat" not in finding(plan(bare, old), "driver-too-old").fix
    has = replace(SYSTEM_13, parts=(*SYSTEM_13.parts, "compat"))
    offered = finding(plan(bare, replace(old, toolkits=(has,))), "driver-too-old").fix
    assert "LD_LIBRARY_PATH: /usr/local/cuda-13.0/compat" in offered
    another = replace(toolkit("/usr/local/cuda-12.9", "12.9"), parts=has.parts)
    assert "compat" not in finding(plan(bare, replace(old, toolkits=(another,))), "driver-too-old").fix
    # A folder that is not there, or that is too old itself, changes nothing.
    for version in (None, "575.57.08"):
        assert "driver-too-old" in codes(plan(*with_compat(version)))
    # A driver that is new enough gets none of its own accord.
    assert "LD_LIBRARY_PATH" not in plan(here=machine(OWN, toolkits=(has,))).env


def test_r052_triton_1981_the_cache_that_does_not_know_libcuda_is_made_up_for() -> None:
    stale = machine(replace(OWN, cached=False), target=target(packages={**PACKAGES, "triton": "3.6.0"}))
    made = plan(here=stale)
    assert made.env["TRITON_LIBCUDA_PATH"] == LIB
    assert "cache does not know" in change(made, "TRITON_LIBCUDA_PATH").because
    assert finding(made, "libcuda-not-cached").severity is Severity.NOTE
    known = plan(here=replace(stale, system_libraries=(OWN,)))
    assert "TRITON_LIBCUDA_PATH" not in known.env
    assert "libcuda-not-cached" not in codes(known)


def test_r052_ldconfig_itself_stays_on_path() -> None:
    entries = plan(here=facts(environ={"PATH": "/opt/venvs/sglang/bin:/usr/bin"})).env["PATH"].split(":")
    assert "/usr/sbin" in entries


@pytest.mark.parametrize("in_container", [False, True])
def test_a_libcuda_that_is_nowhere_is_an_error_where_gpus_are(in_container: bool) -> None:
    mount = "/usr/local/nvidia/lib64"
    folder = LibraryFolder(
        path=mount, exists=True, libraries=("libcuda.so.1",), libcuda=f"{mount}/libcuda.so.580.95.05"
    )
    mounted: dict[str, Any] = {"library_folders": (folder,), "driver_mounts": (mount,)}
    bare = machine(environ={"LD_LIBRARY_PATH": mount}, **(mounted if in_container else {}))
    made = plan(here=bare)
    assert ("libcuda-missing" in codes(made)) == (not in_container)
    assert "libcuda-missing" not in codes(plan(here=machine(gpus=None)))
    assert "libcuda-missing" not in codes(plan(here=replace(facts(toolkits=(SYSTEM_13,)), system_libraries=None)))


def test_r045_pytorch_188892_a_part_of_cudnn_that_the_wheel_lacks_and_the_system_has_is_named() -> None:
    parts = ("libcudnn_ops.so.9", "libcudnn_engines_precompiled.so.9")
    system = tuple(
        SystemLibrary(name=name, path=f"{LIB}/{name}", real=f"{LIB}/{name}.9.8.0", cached=True) for name in parts
    )
    packages = {**PACKAGES, "nvidia-cudnn-cu13": "9.19.0.56"}
    half = target(libraries=("libcudnn.so.9", "libcudnn_ops.so.9"), packages=packages)
    said = finding(plan(here=machine(OWN, *system, target=half)), "cudnn-of-two-builds")
    assert f"libcudnn_engines_precompiled.so.9 ({LIB}/libcudnn_engines_precompiled.so.9)" in said.message
    assert "libcudnn_ops" not in said.message
    assert "cuDNN 9.19.0.56" in said.message
    assert "nvidia-cudnn-cu13==9.19.0.56" in said.fix
    whole = target(libraries=("libcudnn.so.9", *parts), packages=packages)
    assert "cudnn-of-two-builds" not in codes(plan(here=machine(OWN, *system, target=whole)))
    # Without cuDNN wheels, and with another major's parts in the system, nothing is mixed.
    assert "cudnn-of-two-builds" not in codes(plan(here=machine(OWN, *system)))
    eight = replace(system[1], name="libcudnn_engines_precompiled.so.8")
    assert "cudnn-of-two-builds" not in codes(plan(here=machine(OWN, eight, target=half)))
