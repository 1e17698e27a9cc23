"""Reports whose cause is LD_LIBRARY_PATH: what may stay, entry by entry, and what is said of the rest."""

from __future__ import annotations

from launcher.model import Facts, LibraryFolder
from tests.builders import SYSTEM_13, asked, change, codes, facts, finding, plan, target

PASSED = asked(env={"pass": ["LD_LIBRARY_PATH"]})
CARRIED = ("libcudnn.so.9", "libcudart.so.13", "libnvJitLink.so.13")


def with_library_path(*folders: LibraryFolder, mounts: tuple[str, ...] = ()) -> Facts:
    """A caller with these folders on LD_LIBRARY_PATH, and a target whose wheels carry CUDA's libraries."""
    return facts(
        environ={"LD_LIBRARY_PATH": ":".join(folder.path for folder in folders)},
        library_folders=folders,
        driver_mounts=mounts,
        target=target(libraries=CARRIED),
        toolkits=(SYSTEM_13,),
    )


def folder(path: str, *libraries: str) -> LibraryFolder:
    """An entry that is there."""
    return LibraryFolder(path=path, exists=True, libraries=libraries)


def test_r043_vllm_10300_a_folder_with_libraries_that_the_wheels_carry_does_not_shadow_them() -> None:
    shadowing = with_library_path(folder("/opt/cuda-libs", "libnvJitLink.so.12"), folder("/opt/own", "libmine.so"))
    made = plan(PASSED, shadowing)
    assert made.env["LD_LIBRARY_PATH"] == "/opt/own"
    said = finding(made, "library-path-filtered").message
    assert "/opt/cuda-libs holds libnvJitLink.so, which the target's wheels carry too" in said
    assert "/opt/own" not in said
    # By itself nothing of it passes, and the line says why.
    assert "libnvJitLink.so" in change(plan(here=shadowing), "LD_LIBRARY_PATH").because
    assert "library-path-filtered" not in codes(plan(PASSED, with_library_path(folder("/opt/own", "libmine.so"))))


def test_r044_jax_30050_the_hpc_sdk_stays_out() -> None:
    sdk = "/opt/nvidia/hpc_sdk/Linux_x86_64/25.7/math_libs/lib64"
    made = plan(PASSED, with_library_path(folder(sdk), folder("/opt/own")))
    assert made.env["LD_LIBRARY_PATH"] == "/opt/own"
    assert "HPC SDK" in finding(made, "library-path-filtered").message


def test_r047_vllm_35608_a_launch_is_clean_by_default_and_keep_env_keeps_the_whole_value() -> None:
    from launcher.model import Request

    leftover = with_library_path(folder("/usr/local/cuda-12.8/lib64", "libcublas.so.12"))
    assert "LD_LIBRARY_PATH" not in plan(here=leftover).env
    assert "--keep-env LD_LIBRARY_PATH" in change(plan(here=leftover), "LD_LIBRARY_PATH").because
    kept = plan(here=leftover, request=Request(keep_env=("LD_LIBRARY_PATH",)))
    assert kept.env["LD_LIBRARY_PATH"] == "/usr/local/cuda-12.8/lib64"


def test_r049_gpustack_4678_a_profile_may_put_a_folder_there_itself() -> None:
    mount = "/usr/local/nvidia/lib64"
    wished = asked(env={"set": {"LD_LIBRARY_PATH": mount}})
    assert plan(wished, facts(toolkits=(SYSTEM_13,))).env["LD_LIBRARY_PATH"] == mount
    assert change(plan(wished), "LD_LIBRARY_PATH").origin == "profile"
    assert "LD_LIBRARY_PATH" not in plan(here=facts(toolkits=(SYSTEM_13,))).env


def test_driver_mounts_stay_and_compat_stubs_empty_and_relative_entries_go() -> None:
    mount = "/usr/local/nvidia/lib64"
    made = plan(
        PASSED,
        with_library_path(
            folder(mount, "libcuda.so.1"),
            folder("/usr/local/cuda-13.0/compat", "libcuda.so.1"),
            folder("/usr/local/cuda-13.0/lib64/stubs", "libcuda.so"),
            folder("/usr/lib/wsl/lib", "libcuda.so.1"),
            LibraryFolder(path="", exists=True),
            LibraryFolder(path="lib", exists=True),
            mounts=(mount,),
        ),
    )
    assert made.env["LD_LIBRARY_PATH"] == f"{mount}:/usr/lib/wsl/lib"
    said = finding(made, "library-path-filtered").message
    for entry, why in (
        ("/usr/local/cuda-13.0/compat", "another libcuda"),
        ("''", "working folder"),
        ("lib ", "relative"),
    ):
        assert entry in said and why in said
