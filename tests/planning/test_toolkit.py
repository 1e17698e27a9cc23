"""The CUDA decision: which root, why, and what it means for the variables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from launcher.model import Severity, Toolkit
from tests.builders import (
    COMPLETE,
    PACKAGES,
    STALE,
    SYSTEM_13,
    VENV,
    WHEEL_13,
    asked,
    change,
    codes,
    facts,
    finding,
    plan,
    target,
    toolkit,
)

HIDDEN = "/home/serve/.cache/gpulaunch/toolkits/hidden"


@pytest.mark.parametrize("flashinfer", ["0.6.8", "0.6.12"])
@pytest.mark.parametrize(
    ("beside", "strategy", "root"),
    [
        ((WHEEL_13,), "wheel", "/home/serve/.cache/gpulaunch/toolkits/13.0-"),
        ((SYSTEM_13,), "redirect", "/usr/local/cuda-13.0"),
        ((), "hide", HIDDEN),
    ],
)
def test_the_founding_host_never_serves_with_the_stale_nvcc(
    flashinfer: str, beside: tuple[Toolkit, ...], strategy: str, root: str
) -> None:
    here = facts(
        toolkits=(*facts().toolkits, *beside), target=target(packages={**PACKAGES, "flashinfer-python": flashinfer})
    )
    made = plan(here=here)
    assert made.toolkit.strategy == strategy
    assert made.toolkit.root.startswith(root)
    assert made.env["CUDA_HOME"] == made.env["CUDA_PATH"] == made.toolkit.root
    assert "cuda-12.8" not in made.env["PATH"]
    assert "/usr/local/cuda/bin" not in made.env["PATH"].split(":")
    assert made.env["FLASHINFER_CUDA_ARCH_LIST"] == "12.0a"


def test_the_reason_names_the_three_numbers() -> None:
    """R003 flashinfer-ai/flashinfer#3675: the card is blamed ("sm75 or higher") where the old nvcc is the cause."""
    made = plan(here=facts(toolkits=(*facts().toolkits, SYSTEM_13)))
    said = finding(made, "toolkit-replaced").message
    assert "12.8 < 12.9" in said
    assert "FlashInfer 0.6.8" in said
    assert "compute capability 12.0" in said


def test_hiding_says_what_cannot_be_compiled_and_how_to_mend_it() -> None:
    made = plan()
    said = finding(made, "toolkit-hidden")
    assert said.severity is Severity.ERROR
    assert "FlashInfer 0.6.8's kernels" in said.message
    assert f"{VENV}/bin/python -m pip install 'nvidia-cuda-nvcc==13.0.*'" in said.fix
    assert made.blocked


def test_wheels_that_were_installed_for_the_purpose_and_do_not_fit_are_named_with_the_reason() -> None:
    """ls1intum/edutelligence#687: an unpinned nvcc wheel is newer than torch's headers."""
    mixed = replace(WHEEL_13, release="13.2")
    said = finding(plan(here=facts(toolkits=(*facts().toolkits, mixed))), "toolkit-hidden")
    assert "the wheels in the target do not fit either: nvcc 13.2 lies beside headers of CUDA 13.0" in said.message
    assert "==13.0.*" in said.fix


def test_hiding_is_only_a_note_where_all_kernels_are_prebuilt() -> None:
    packages = {**PACKAGES, "flashinfer-jit-cache": "0.6.8+cu130"}
    made = plan(here=facts(target=target(packages=packages)))
    assert finding(made, "toolkit-hidden").severity is Severity.NOTE
    assert not made.blocked


def test_prebuilt_kernels_of_another_version_do_not_count() -> None:
    packages = {**PACKAGES, "flashinfer-jit-cache": "0.6.7"}
    made = plan(here=facts(target=target(packages=packages)))
    assert finding(made, "toolkit-hidden").severity is Severity.ERROR


def test_hiding_that_the_profile_asks_for_is_a_warning() -> None:
    made = plan(asked(cuda={"toolkit": "hide"}), facts(toolkits=(*facts().toolkits, SYSTEM_13)))
    assert made.toolkit.root == HIDDEN
    assert finding(made, "toolkit-hidden").severity is Severity.WARNING


def test_a_fitting_toolkit_of_the_caller_is_kept() -> None:
    here = facts(toolkits=(toolkit("/usr/local/cuda-13.0", "13.0", found=("CUDA_HOME", "/usr/local/cuda")),))
    made = plan(here=here)
    assert made.toolkit.strategy == "keep"
    assert made.toolkit.root == "/usr/local/cuda-13.0"
    assert "toolkit-replaced" not in codes(made)


@pytest.mark.parametrize(
    ("releases", "chosen"),
    [
        (("13.1", "13.0"), "13.0"),  # torch's own release first
        (("13.3", "13.1"), "13.1"),  # then the nearest higher minor
        (("12.9", "13.2"), "13.2"),  # never another major
    ],
)
def test_the_release_of_torch_is_preferred_then_the_nearest_higher_minor(
    releases: tuple[str, ...], chosen: str
) -> None:
    made = plan(here=facts(toolkits=tuple(toolkit(f"/opt/cuda-{release}", release) for release in releases)))
    assert made.toolkit.release == chosen
    assert ("toolkit-of-another-minor" in codes(made)) == (chosen != "13.0")


def test_a_whole_toolkit_of_the_same_release_comes_before_the_wheels() -> None:
    made = plan(here=facts(toolkits=(WHEEL_13, SYSTEM_13)))
    assert made.toolkit.strategy == "redirect"


def test_another_set_of_wheels_is_another_view() -> None:
    newer = replace(WHEEL_13, wheels={**WHEEL_13.wheels, "nvidia-cuda-runtime": "13.0.97"})
    assert plan(here=facts(toolkits=(WHEEL_13,))).toolkit.root != plan(here=facts(toolkits=(newer,))).toolkit.root


@pytest.mark.parametrize(
    ("candidate", "objection"),
    [
        (toolkit("/opt/cuda", "13.0", headers_release="13.3"), "headers of CUDA 13.3"),  # vllm-project/vllm#44305
        (toolkit("/opt/cuda", "13.0", parts=("nvcc", "ptxas")), "cicc"),
        (toolkit("/usr", "13.0", kind="distro"), "distribution"),
        (toolkit("/opt/cuda", "12.9"), "another major release"),
        (replace(toolkit("/opt/cuda"), release=None, problem="/opt/cuda/bin/nvcc is not executable"), "not executable"),
    ],
)
def test_a_toolkit_that_would_fail_is_not_chosen_and_the_verdict_says_why(candidate: Toolkit, objection: str) -> None:
    made = plan(here=facts(toolkits=(candidate,)))
    assert made.toolkit.strategy == "hide"
    (verdict,) = made.toolkit.verdicts
    assert not verdict.fits
    assert objection in verdict.because


def test_condas_toolkit_is_used_through_a_view_of_its_cuda_programs_alone() -> None:
    parts = tuple(part for part in COMPLETE if part not in ("lib64", "libcuda-stub"))
    conda = toolkit("/opt/conda/envs/cuda", "13.0", kind="conda", found=("CONDA_PREFIX",), parts=parts)
    made = plan(here=facts(toolkits=(STALE, conda)))
    assert made.toolkit.strategy == "redirect"
    assert made.toolkit.source == "/opt/conda/envs/cuda"
    assert made.toolkit.root.startswith("/home/serve/.cache/gpulaunch/toolkits/13.0-")
    assert "/opt/conda/envs/cuda/bin" not in made.env["PATH"].split(":")
    assert [step.source for step in made.prepare if step.action == "view"] == ["/opt/conda/envs/cuda"]


@pytest.mark.parametrize("wish", ["keep", "wheel", "/opt/nothing"])
def test_a_toolkit_asked_for_by_name_is_refused_rather_than_replaced(wish: str) -> None:
    made = plan(asked(cuda={"toolkit": wish}), facts(toolkits=(*facts().toolkits, SYSTEM_13)))
    assert made.toolkit.strategy == "refuse"
    assert finding(made, "toolkit-refused").severity is Severity.ERROR
    assert made.toolkit.root != "/usr/local/cuda-13.0"


def test_a_path_in_the_profile_is_used_where_it_fits() -> None:
    there = toolkit("/opt/cuda-13.0", "13.0", found=("profile cuda.toolkit",))
    made = plan(asked(cuda={"toolkit": "/opt/cuda-13.0"}), facts(toolkits=(SYSTEM_13, there)))
    assert made.toolkit.root == "/opt/cuda-13.0"


def test_flashinfer_from_0_7_2_takes_12_8_for_12_0_but_not_for_12_1() -> None:
    """flashinfer-ai/flashinfer#3633."""
    packages = {**PACKAGES, "flashinfer-python": "0.7.4"}
    here = facts(target=target(packages=packages, cuda="12.8"))
    assert plan(here=here).toolkit.strategy == "keep"
    spark = asked(gpus={"capability": "12.1"})
    assert plan(spark, replace(here, gpus=())).toolkit.strategy == "hide"


def test_hiding_cures_nothing_where_torch_itself_is_too_old() -> None:
    made = plan(here=facts(target=target(cuda="12.8")))
    said = finding(made, "torch-below-floor")
    assert "asks for CUDA 12.9" in said.message
    assert made.blocked


def test_a_machine_without_torch_or_toolkit_still_ends_in_one_named_root() -> None:
    made = plan(
        asked(engine="command", command=["server"], ready="none", model=None, args={}), facts(toolkits=(), target=None)
    )
    assert made.env["CUDA_HOME"] == HIDDEN
    assert finding(made, "toolkit-hidden").severity is Severity.NOTE


def test_an_unreadable_target_is_planned_for_with_what_the_engine_usually_brings() -> None:
    made = plan(here=facts(target=None, toolkits=()))
    assert "assumed" in change(made, "CUDA_HOME").because
    assert made.env["FLASHINFER_CUDA_ARCH_LIST"] == "12.0a"
    assert len([code for code in codes(made) if code == "target-unread"]) == 1


@pytest.mark.parametrize(
    ("engine", "flashinfer", "value"),
    [
        ("sglang", "0.6.8", "12.0a"),
        ("sglang", "0.7.4", "12.0a"),
        ("vllm", "0.6.8", "12.0"),
        ("vllm", "0.6.7", "12.0"),
        ("vllm", "0.6.6", "12.0a"),
    ],
)
def test_the_arch_list_has_the_form_that_engine_and_version_use(engine: str, flashinfer: str, value: str) -> None:
    packages = {engine: "1", "torch": "2.11.0", "flashinfer-python": flashinfer}
    made = plan(asked(engine=engine), facts(toolkits=(SYSTEM_13,), target=target(packages=packages)))
    assert made.env["FLASHINFER_CUDA_ARCH_LIST"] == value


def test_two_kinds_of_gpus_are_listed_with_one_space_and_in_order() -> None:
    """FlashInfer splits on one space and raises at import on anything else."""
    made = plan(asked(gpus={"capability": ["12.0", "9.0"]}), facts(toolkits=(SYSTEM_13,)))
    assert made.env["FLASHINFER_CUDA_ARCH_LIST"] == "9.0a 12.0a"
    assert made.env["TORCH_CUDA_ARCH_LIST"] == "9.0;12.0"


def test_each_toolkit_has_its_own_folder_for_compiled_kernels() -> None:
    """flashinfer-ai/flashinfer#5145, #3229."""
    one = plan(here=facts(toolkits=(SYSTEM_13,)))
    other = plan(here=facts(toolkits=(toolkit("/opt/cuda-13.0", "13.0"),)))
    assert one.env["FLASHINFER_WORKSPACE_BASE"] != other.env["FLASHINFER_WORKSPACE_BASE"]
    assert one.env["FLASHINFER_WORKSPACE_BASE"] in [step.path for step in one.prepare]


PROVISIONED_13 = toolkit(
    "/home/serve/.local/share/gpulaunch/toolkits/13.0", "13.0", kind="provisioned", found=("gpulaunch toolkit add",)
)


def test_a_provisioned_toolkit_is_used_by_itself_after_the_targets_own() -> None:
    made = plan(here=facts(toolkits=(STALE, PROVISIONED_13)))
    assert made.toolkit.strategy == "provisioned"
    assert made.env["CUDA_HOME"] == PROVISIONED_13.root
    assert plan(here=facts(toolkits=(STALE, PROVISIONED_13, WHEEL_13))).toolkit.strategy == "wheel"
    newer = toolkit("/usr/local/cuda-13.2", "13.2")
    assert plan(here=facts(toolkits=(newer, PROVISIONED_13))).toolkit.root == PROVISIONED_13.root


def test_a_profile_may_allow_the_launch_to_make_one() -> None:
    made = plan(asked(cuda={"toolkit": "provision"}))
    assert made.toolkit.strategy == "provisioned"
    assert made.env["CUDA_HOME"] == PROVISIONED_13.root
    assert [(step.path, step.source) for step in made.prepare if step.action == "provision"] == [
        (PROVISIONED_13.root, "13.0")
    ]
    there = plan(asked(cuda={"toolkit": "provision"}), facts(toolkits=(STALE, PROVISIONED_13)))
    assert there.toolkit.root == PROVISIONED_13.root
    assert "provision" not in {step.action for step in there.prepare}


@pytest.mark.parametrize(("cuda", "because"), [("12.8", "no wheel of CUDA 12 holds nvcc"), ("13.99", "known are 13.0")])
def test_what_cannot_be_made_is_refused_with_the_reason(cuda: str, because: str) -> None:
    made = plan(asked(cuda={"toolkit": "provision"}), facts(target=target(cuda=cuda)))
    assert because in finding(made, "toolkit-refused").message


@pytest.mark.parametrize(("machine", "offered"), [("x86_64", True), ("aarch64", True), ("riscv64", False)])
def test_where_nothing_fits_the_one_command_is_said(machine: str, offered: bool) -> None:
    there = facts()
    there = replace(there, host=replace(there.host, machine=machine))
    assert ("gpulaunch toolkit add 13.0" in finding(plan(here=there), "toolkit-hidden").fix) == offered
