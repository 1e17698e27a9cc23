"""Reports whose cause is a toolkit: the wrong one, half of one, or one that gcc, GPU or driver does not suit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from launcher.facts import toolkits as looking
from launcher.facts.toolkits import Surroundings, parse_newest_gcc
from launcher.model import Driver, HostCompiler, Plan, Toolkit, Torch
from tests.builders import (
    COMPLETE,
    STALE,
    SYSTEM_13,
    WHEEL_13,
    asked,
    change,
    codes,
    facts,
    finding,
    gpus,
    plan,
    target,
    toolkit,
)
from tests.facts import trees


def reasons(made: Plan, root: str) -> str:
    """Why a root does not fit; empty where it does."""
    (verdict,) = (verdict for verdict in made.toolkit.verdicts if verdict.root == root)
    return "" if verdict.fits else verdict.because


def without(*parts: str, of: Toolkit = SYSTEM_13) -> Toolkit:
    """A toolkit that lacks parts."""
    return replace(of, parts=tuple(part for part in of.parts if part not in parts))


@pytest.mark.parametrize("headers", ["13.3", "13.2"])
def test_r005_vllm_44305_an_nvcc_wheel_newer_than_its_headers_is_refused(headers: str) -> None:
    mixed = replace(WHEEL_13, release=headers)
    made = plan(here=facts(toolkits=(STALE, mixed)))
    assert f"nvcc {headers} lies beside headers of CUDA 13.0" in reasons(made, WHEEL_13.root)
    assert made.toolkit.strategy == "hide"
    assert plan(here=facts(toolkits=(STALE, WHEEL_13))).toolkit.strategy == "wheel"


def test_r006_edutelligence_687_the_pins_that_give_one_release_are_named() -> None:
    floated = replace(WHEEL_13, release="13.2")
    said = finding(plan(here=facts(toolkits=(floated,))), "toolkit-hidden")
    assert "nvcc 13.2 lies beside headers of CUDA 13.0" in said.message
    for wheel in ("nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm", "nvidia-cuda-runtime", "nvidia-cuda-cccl"):
        assert f"'{wheel}==13.0.*'" in said.fix
    assert "toolkit-hidden" not in codes(plan(here=facts(toolkits=(WHEEL_13,))))


@pytest.mark.parametrize(
    "said", [":/usr/local/cuda-12.8", "/usr/local/cuda-12.8:", "/a/bin:/b", "", "cuda", "/nowhere"]
)
def test_r007_vllm_36077_a_cuda_home_that_names_no_folder_is_a_finding_and_never_passed_on(said: str) -> None:
    _, findings = looking.look(Surroundings({"CUDA_HOME": said}))
    assert [entry.code for entry in findings if "CUDA_HOME" in entry.message] == ["toolkit-variable-malformed"]
    made = plan(here=facts(environ={"CUDA_HOME": said}, toolkits=(SYSTEM_13,)))
    assert made.env["CUDA_HOME"] == SYSTEM_13.root
    _, right = looking.look(Surroundings({"CUDA_HOME": "/usr"}))
    assert not [entry for entry in right if "CUDA_HOME" in entry.message]


def test_r013_sglang_4169_a_toolkit_of_nvcc_alone_is_not_chosen() -> None:
    bare = without("curand_kernel.h", "curand.h")
    assert "curand_kernel.h not in it" in reasons(plan(here=facts(toolkits=(bare,))), bare.root)
    assert reasons(plan(here=facts(toolkits=(SYSTEM_13,))), SYSTEM_13.root) == ""


@pytest.mark.parametrize("missing", ["lib64", "libcudart.so", "libcuda-stub"])
def test_r015_flashinfer_5064_what_the_link_line_needs_is_added_by_a_view(missing: str) -> None:
    half = without(missing)
    made = plan(here=facts(toolkits=(half,)))
    assert made.toolkit.source == half.root
    assert made.env["CUDA_HOME"] == made.toolkit.root != half.root
    assert [step.source for step in made.prepare if step.action == "view"] == [half.root]
    whole = plan(here=facts(toolkits=(SYSTEM_13,)))
    assert whole.toolkit.root == SYSTEM_13.root
    assert not [step for step in whole.prepare if step.action == "view"]


def test_r016_flashinfer_1143_a_toolkit_with_its_libraries_in_lib_alone_is_not_edited_but_viewed() -> None:
    in_lib = without("lib64")
    assert plan(here=facts(toolkits=(in_lib,))).env["CUDA_LIB_PATH"].endswith("/lib64")
    nothing_to_link = without("lib64", "libcudart.so", "libcudart.so.N")
    assert "libcudart.so not in it" in reasons(plan(here=facts(toolkits=(nothing_to_link,))), SYSTEM_13.root)


def test_r018_unsloth_zoo_1099_a_missing_stub_of_libcuda_is_found_before_anything_compiles() -> None:
    no_stub = without("libcuda-stub")
    (step,) = (step for step in plan(here=facts(toolkits=(no_stub,))).prepare if step.action == "view")
    assert step.source == no_stub.root
    assert "view" not in {step.action for step in plan(here=facts(toolkits=(SYSTEM_13,))).prepare}


def test_r022_vllm_8665_the_distributions_nvcc_is_named_with_its_package_and_never_a_root() -> None:
    distribution = toolkit("/usr", "11.8", kind="distro", found=("the distribution's /usr/bin/nvcc",))
    made = plan(here=facts(toolkits=(distribution,)))
    assert "package nvidia-cuda-toolkit" in reasons(made, "/usr")
    assert made.env["CUDA_HOME"] != "/usr"
    asked_for = plan(asked(cuda={"toolkit": "keep"}), facts(toolkits=(replace(distribution, found=("CUDA_HOME",)),)))
    assert "toolkit-refused" in codes(asked_for)
    assert plan(here=facts(toolkits=(distribution, SYSTEM_13))).toolkit.root == SYSTEM_13.root


@pytest.mark.parametrize(
    ("cpus", "available", "jobs"), [(64, 1 << 40, "64"), (20, 100 << 30, "12"), (8, 61 << 30, "7"), (8, 3 << 30, "1")]
)
def test_r030_flashinfer_3634_as_many_compilers_as_memory_has_room_for(cpus: int, available: int, jobs: str) -> None:
    there = facts(toolkits=(SYSTEM_13,))
    there = replace(there, host=replace(there.host, cpus=cpus, memory_available=available))
    assert plan(here=there).env["MAX_JOBS"] == jobs
    # The operator knows better, and is told nothing: it is no repair.
    assert plan(asked(env={"set": {"MAX_JOBS": "2"}}), there).env["MAX_JOBS"] == "2"
    # Nothing is compiled without a compiler, and nothing is known without memory.
    assert "MAX_JOBS" not in plan(asked(cuda={"toolkit": "hide"}), there).env
    unknown = replace(there, host=replace(there.host, memory=None, memory_available=None))
    assert "MAX_JOBS" not in plan(here=unknown).env


def test_r032_pixeltrack_432_an_nvcc_that_refuses_the_new_gcc_gets_an_older_one() -> None:
    newest, older = _gcc("g++", 16), _gcc("g++-15", 15)
    bound = replace(SYSTEM_13, newest_gcc=15)
    made = plan(here=facts(toolkits=(bound,), host_compilers=(newest, older, _gcc("g++-13", 13))))
    assert made.env["NVCC_CCBIN"] == made.env["CXX"] == made.env["CUDAHOSTCXX"] == "/usr/bin/g++-15"
    assert made.env["CC"] == "/usr/bin/gcc-15"
    assert "gcc 16" in change(made, "NVCC_CCBIN").because
    # Without an older one the toolkit does not suit, and says the numbers.
    alone = plan(here=facts(toolkits=(bound,), host_compilers=(newest,)))
    assert "accepts gcc up to 15, /usr/bin/g++ is 16" in reasons(alone, bound.root)
    # A compiler that suits is not named at all.
    suits = plan(here=facts(toolkits=(bound,), host_compilers=(_gcc("g++", 12),)))
    assert not {"NVCC_CCBIN", "CC", "CXX", "CUDAHOSTCXX"} & set(suits.env)
    assert reasons(suits, bound.root) == ""


def _gcc(name: str, major: int) -> HostCompiler:
    return HostCompiler(path=f"/usr/bin/{name}", c_path=f"/usr/bin/{name.replace('g++', 'gcc')}", major=major)


def test_the_bound_is_read_from_the_toolkits_own_header() -> None:
    text = "#if defined(__GNUC__)\n#if __GNUC__ > 15\n#error -- unsupported GNU version!\n#endif\n"
    assert parse_newest_gcc(text) == 15
    assert parse_newest_gcc("#if defined(__clang__)\n") is None


def test_r035_tilelang_2839_a_link_and_a_shim_lead_to_the_true_root(tmp_path: Path) -> None:
    root = trees.toolkit(tmp_path / "cuda-13.0", "13.0")
    (tmp_path / "local/bin").mkdir(parents=True)
    (tmp_path / "local/bin/nvcc").symlink_to(root / "bin/nvcc")
    trees.script(tmp_path / "shim/bin/nvcc", f'exec {root}/bin/nvcc "$@"')
    for folder in ("local/bin", "shim/bin"):
        found, _ = looking.look(Surroundings({"PATH": f"{tmp_path}/{folder}"}))
        assert [entry.root for entry in found if entry.found[0].startswith("nvcc on PATH")] == [str(root)]
    direct, _ = looking.look(Surroundings({"PATH": f"{root}/bin"}))
    assert direct[0].root == str(root)


def test_r036_vllm_27890_python_h_is_missed_before_the_weights_are_loaded() -> None:
    slim = facts(toolkits=(SYSTEM_13,), target=target(python_header=False))
    assert "python3.11-dev" in finding(plan(here=slim), "python-header-missing").fix
    for right in (True, None):
        there = facts(toolkits=(SYSTEM_13,), target=target(python_header=right))
        assert "python-header-missing" not in codes(plan(here=there))


@pytest.mark.parametrize("program", ["ninja", "c++"])
def test_r027_fak_923_a_missing_build_tool_is_an_error_before_the_start(program: str) -> None:
    every = {"ninja": "/usr/bin/ninja", "c++": "/usr/bin/c++"}
    slim = facts(toolkits=(SYSTEM_13,), programs={**every, program: None})
    assert (
        f"{program} is on none of the server's PATH folders" in finding(plan(here=slim), "build-tool-missing").message
    )
    assert plan(here=slim).blocked
    assert "build-tool-missing" not in codes(plan(here=facts(toolkits=(SYSTEM_13,), programs=every)))


def test_r038_eullm_428_a_driver_below_the_major_release_of_torch_is_an_error() -> None:
    old = facts(toolkits=(SYSTEM_13,), driver=Driver(version="535.183.06", cuda="12.2", how="NVML"))
    said = finding(plan(here=old), "driver-too-old")
    assert "CUDA 13.0, which needs driver 580 or newer; here is 535.183.06, which knows CUDA up to 12.2" in said.message
    assert said.exit_code == 69
    assert "driver-too-old" not in codes(plan(here=facts(toolkits=(SYSTEM_13,))))
    # The minor does not bind: 12.9 runs on a driver of 12.2.
    torch_12 = target(torch=Torch(version="2.11.0+cu129", cuda="12.9", file="version.py"))
    ampere = asked(gpus={"count": "8", "capability": "8.0"})
    within = replace(old, target=torch_12, gpus=gpus(8, "8.0"))
    assert "driver-too-old" not in codes(plan(ampere, within))


def test_r053_flashinfer_928_a_toolkit_newer_than_the_runtime_is_taken_last_and_warned_of() -> None:
    newer = toolkit("/usr/local/cuda-13.2", "13.2")
    said = finding(plan(here=facts(toolkits=(newer,))), "toolkit-of-another-minor")
    assert "nvcc 13.2 is newer than the release that torch was built for (13.0)" in said.message
    assert plan(here=facts(toolkits=(newer, SYSTEM_13))).toolkit.root == SYSTEM_13.root
    assert "toolkit-of-another-minor" not in codes(plan(here=facts(toolkits=(SYSTEM_13,))))


def test_a_toolkit_that_lacks_only_what_nobody_installed_needs_is_complete() -> None:
    no_cublas = without("cublasLt.h")
    assert set(COMPLETE) - set(no_cublas.parts) == {"cublasLt.h"}
    assert reasons(plan(here=facts(toolkits=(no_cublas,))), no_cublas.root) == ""


@pytest.mark.parametrize(
    ("torch", "capability", "because"),
    [("12.4", "12.0", "CUDA 12.8 is the first"), ("12.6", "10.3", "12.9"), ("13.0", "7.0", "begins at 7.5")],
)
def test_r040_vllm_20193_a_torch_without_kernels_for_the_gpu_is_named_before_it_ends_with_no_kernel_image(
    torch: str, capability: str, because: str
) -> None:
    wish = asked(gpus={"count": "8", "capability": capability})

    def on(cuda: str) -> Plan:
        built = target(torch=Torch(version=f"2.11.0+cu{cuda.replace('.', '')}", cuda=cuda, file="version.py"))
        return plan(wish, facts(target=built, gpus=gpus(8, capability)))

    said = finding(on(torch), "torch-without-gpu").message
    assert f"compute capability {capability}" in said and because in said
    assert on(torch).blocked
    assert "torch-without-gpu" not in codes(on("12.9" if capability == "7.0" else "13.0"))
