"""What each library gets, in its own syntax, and what is said where it cannot be helped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from launcher.consumers import CONSUMERS, deep_gemm, triton
from launcher.model import Facts, Root
from tests.builders import PACKAGES, STALE, SYSTEM_13, WHEEL_13, asked, change, codes, facts, finding, gpus, plan
from tests.builders import target as a_target


def with_packages(*toolkits: Any, capability: str = "12.0", **packages: str) -> Facts:
    """The founding host with these toolkits and with more in the target."""
    named = {name.replace("_", "-"): version for name, version in packages.items()}
    return facts(
        toolkits=toolkits or (SYSTEM_13,),
        target=a_target(packages={**PACKAGES, **named}),
        gpus=gpus(8, capability),
    )


def wish(capability: str, **keys: Any) -> Any:
    """A profile for eight GPUs of a kind."""
    return asked(gpus={"count": "8", "capability": capability}, **keys)


def test_every_consumer_has_a_name_of_its_own_and_a_package() -> None:
    names = [consumer.NAME for consumer in CONSUMERS]
    assert len(set(names)) == len(names)
    assert all(consumer.PACKAGE for consumer in CONSUMERS)


@pytest.mark.parametrize(
    ("version", "capability", "variable"),
    [
        ("3.6.0", "11.0", "TRITON_PTXAS_BLACKWELL_PATH"),  # Thor: the bundled 12.9 does not know 11.0
        ("3.8.0", "10.7", None),  # nor does the toolkit's 13.0 know 10.7
        ("3.6.0", "12.1", None),  # the bundled blackwell assembler is 12.9
        ("3.6.0", "9.0", None),
    ],
)
def test_r020_triton_server_8632_tritons_second_assembler_is_replaced_where_the_gpu_is_newer(
    version: str, capability: str, variable: str | None
) -> None:
    made = plan(wish(capability), with_packages(capability=capability, triton=version))
    set_here = [name for name in made.env if name.startswith("TRITON_PTXAS")]
    assert set_here == ([variable] if variable else [])
    if variable:
        assert made.env[variable] == f"{made.toolkit.root}/bin/ptxas"


def test_r019_triton_8539_an_assembler_that_does_not_know_the_gpu_is_replaced_or_named() -> None:
    there = with_packages(capability="11.0", triton="3.6.0")
    assert "does not know 11.0" in change(plan(wish("11.0"), there), "TRITON_PTXAS_BLACKWELL_PATH").because
    nothing = with_packages(STALE, capability="11.0", triton="3.6.0")
    assert "does not know 11.0" in finding(plan(wish("11.0"), nothing), "assembler-too-old").message
    known = with_packages(capability="12.0", triton="3.6.0")
    assert "assembler-too-old" not in codes(plan(wish("12.0"), known))


def test_a_callers_assembler_is_never_carried_over() -> None:
    left = replace(with_packages(), caller=replace(facts().caller, environ={"TRITON_PTXAS_PATH": ""}))
    assert "TRITON_PTXAS_PATH" not in plan(here=left).env


def test_the_table_of_tritons_assemblers_says_nothing_of_versions_that_were_not_read() -> None:
    assert triton.bundled("3.8.1") == ((12, 9), (13, 3))
    assert triton.bundled("3.5.0") is None


def test_tvm_ffi_gets_the_gpus_that_are_used_with_blanks_between() -> None:
    both = facts(
        toolkits=(SYSTEM_13,),
        target=a_target(packages={**PACKAGES, "apache-tvm-ffi": "0.1.11"}),
        gpus=(*gpus(1, "9.0"), *(replace(gpu, index=1) for gpu in gpus(1, "12.0"))),
    )
    assert plan(asked(gpus={}), both).env["TVM_FFI_CUDA_ARCH_LIST"] == "9.0a 12.0a"
    assert "TVM_FFI_CUDA_ARCH_LIST" not in plan(here=facts()).env


@pytest.mark.parametrize(
    ("version", "capability", "floor"),
    [("0.1.3", "9.0", (12, 3)), ("0.2.3.post2", "9.0", (12, 9)), (None, "9.0", (12, 9)), ("0.1.3", "8.9", None)],
)
def test_deep_gemm_asks_for_its_own_release(version: str | None, capability: str, floor: object) -> None:
    assert deep_gemm.floor(version, capability) == floor


def test_the_missing_cuobjdump_of_a_wheel_toolkit_is_a_word_not_a_refusal() -> None:
    made = plan(here=with_packages(WHEEL_13, sgl_deep_gemm="0.1.3"))
    assert made.toolkit.strategy == "wheel"
    assert "cuobjdump" in finding(made, "toolkit-part-missing").message
    whole = replace(SYSTEM_13, parts=(*SYSTEM_13.parts, "cuobjdump"))
    assert "toolkit-part-missing" not in codes(plan(here=with_packages(whole, sgl_deep_gemm="0.1.3")))


def test_without_any_toolkit_deep_gemm_finds_the_folder_that_its_import_asserts() -> None:
    nothing = Root(path="/usr/local/cuda", state="missing", nvcc="missing")
    bare = replace(with_packages(STALE, sgl_deep_gemm="0.1.3"), toolkits=(), roots=(nothing,))
    bare = replace(bare, folders=tuple(replace(folder, programs=()) for folder in bare.folders))
    made = plan(here=bare)
    (said,) = (entry for entry in made.predictions if entry.consumer == "DeepGEMM")
    assert said.callers is not None and said.callers.errors == {"path": "AssertionError"}
    assert "the server dies at the start" in said.consequence
    assert said.planned is not None and said.planned.path == made.env["CUDA_HOME"]


@pytest.mark.parametrize(("version", "compiles"), [("0.5.23", True), ("0.5.14", False)])
def test_hiding_is_an_error_for_the_sglang_that_certainly_compiles(version: str, compiles: bool) -> None:
    prebuilt = {"flashinfer-jit-cache": "0.6.8", "sglang": version}
    there = facts(target=a_target(packages={**PACKAGES, **prebuilt}))
    made = plan(here=there)
    assert made.toolkit.strategy == "hide"
    assert made.blocked == compiles
    if compiles:
        assert "SGLang 0.5.23's own kernels" in finding(made, "toolkit-hidden").message


def test_r011_smg_2566_what_a_root_without_a_compiler_turns_off_in_vllm_is_said() -> None:
    packages = {"vllm": "0.33.0", "torch": "2.14.0", "flashinfer-python": "0.7.2.post1"}
    vllm = asked(engine="vllm", args={}, cuda={"toolkit": "hide"})
    off = plan(vllm, facts(target=a_target(packages=packages)))
    assert "will not use FlashInfer at all" in finding(off, "feature-off").message
    cubin = plan(vllm, facts(target=a_target(packages={**packages, "flashinfer-cubin": "0.7.2.post1"})))
    assert "feature-off" not in codes(cubin)
    auto = asked(engine="vllm", args={})
    assert "feature-off" not in codes(plan(auto, facts(toolkits=(SYSTEM_13,), target=a_target(packages=packages))))


def test_r056_vllm_15525_an_nccl_that_does_not_reach_the_workers_is_warned_of() -> None:
    named = asked(engine="vllm", args={}, env={"set": {"VLLM_NCCL_SO_PATH": "/opt/nccl/libnccl.so.2"}})
    vllm = facts(toolkits=(SYSTEM_13,), target=a_target(packages={"vllm": "0.33.0", "torch": "2.14.0"}))
    assert "does not reach the workers" in finding(plan(named, vllm), "second-nccl").message
    assert "second-nccl" not in codes(plan(asked(engine="vllm", args={}), vllm))


def test_a_second_nccl_is_what_deep_ep_asserts_against() -> None:
    named = asked(env={"set": {"SGLANG_NCCL_SO_PATH": "/opt/nccl/libnccl.so.2"}})
    assert "DeepEP" in finding(plan(named, with_packages(sgl_deep_ep="0.1.2")), "second-nccl").message
    assert "second-nccl" not in codes(plan(named, with_packages()))


def test_transformer_engine_gets_headers_and_a_word_on_what_cannot_be_hidden_from_it() -> None:
    both = with_packages(replace(STALE, found=("/usr/local/cuda",)), SYSTEM_13, transformer_engine="2.9.0")
    made = plan(here=both)
    assert made.env["NVTE_CUDA_INCLUDE_DIR"] == f"{SYSTEM_13.root}/include"
    assert "CUDA 12.8" in finding(made, "system-libraries-first").message
    right = with_packages(replace(SYSTEM_13, found=("/usr/local/cuda",)), transformer_engine="2.9.0")
    assert "system-libraries-first" not in codes(plan(here=right))


def test_r033_sglang_18203_a_runtime_of_another_major_is_not_loaded_from_the_chosen_root() -> None:
    stale = Root(path=STALE.root, state="folder", nvcc="runs", release="12.8", holds=("lib64/libcudart.so.12",))
    there = with_packages(STALE, SYSTEM_13, sglang_kernel="0.4.10")
    there = replace(
        there, roots=(stale,), caller=replace(there.caller, environ={"CUDA_HOME": STALE.root, "PATH": "/usr/bin"})
    )
    made = plan(here=there)
    (said,) = (entry for entry in made.predictions if entry.consumer == "sglang-kernel")
    assert "libcudart.so.12 into a process of CUDA 13.0" in said.consequence
    assert said.planned is not None and not (said.planned.path or "").endswith(".12")


def test_pathfinder_and_everybody_else_see_one_root() -> None:
    there = with_packages(cuda_pathfinder="1.9.1")
    apart = {"CUDA_HOME": SYSTEM_13.root, "CUDA_PATH": STALE.root}
    there = replace(there, caller=replace(there.caller, environ=apart))
    made = plan(here=there)
    (said,) = (entry for entry in made.predictions if entry.consumer == "cuda-pathfinder")
    assert "CUDA_PATH" in said.consequence
    assert said.planned is not None and said.planned.path == made.env["CUDA_HOME"] == made.env["CUDA_PATH"]
