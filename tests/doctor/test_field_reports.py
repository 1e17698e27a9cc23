"""Field reports that end in a doctor's chain: each on a small described machine, with its cause and without it."""

from __future__ import annotations

from typing import Any

import pytest

from launcher.model import Facts, NativeModule, Prediction
from tests.builders import PACKAGES, SITE, SYSTEM_13, WHEEL_13, asked, codes, finding, gpus, plan, target, toolkit
from tests.doctor.telling import consequence, diagnosis, led_to, section, told

SM75 = "FlashInfer requires GPUs with sm75 or higher"


def flashinfer(version: str, **more: str) -> Any:
    """A target with this FlashInfer."""
    return target(packages={**PACKAGES, "flashinfer-python": version, **more})


def lookup(here: Facts, consumer: str = "FlashInfer") -> Prediction:
    """What a library finds on this machine."""
    (found,) = (one for one in plan(here=here).predictions if one.consumer == consumer)
    return found


# R001 vllm-project/vllm#50705: an engine dies on compute capability 12.0 where the local toolkit is 12.8.


def test_r001_the_three_numbers_stand_in_one_sentence_and_the_server_gets_another_root() -> None:
    here = led_to("12.8", beside=(SYSTEM_13,), target=flashinfer("0.6.14"))
    made = plan(here=here)
    said = finding(made, "toolkit-replaced").message
    assert "12.8 < 12.9, which FlashInfer 0.6.14 asks for on compute capability 12.0" in said
    assert made.env["CUDA_HOME"] == "/usr/local/cuda-13.0"
    assert SM75 in consequence(made, "FlashInfer")
    assert lookup(here).planned is not None and lookup(here).planned.archs == ("12.0a",)  # type: ignore[union-attr]


def test_r001_with_the_newer_toolkit_in_its_place_nothing_is_said() -> None:
    made = plan(here=led_to("13.0", target=flashinfer("0.6.14")))
    assert "toolkit-replaced" not in codes(made)
    assert consequence(made, "FlashInfer") == ""


# R002 flashinfer-ai/flashinfer#3633: 12.8 and 12.9 side by side; from 0.7.2 on 12.8 will do for 12.0 and not for 12.1.


def with_12_9_beside(version: str, capability: str) -> Facts:
    beside = (toolkit("/usr/local/cuda-12.9", "12.9"),)
    there = target(packages={**PACKAGES, "flashinfer-python": version}, cuda="12.9")
    return led_to("12.8", beside=beside, target=there, gpus=gpus(8, capability))


@pytest.mark.parametrize(("version", "capability"), [("0.6.8", "12.0"), ("0.6.8", "12.1"), ("0.7.2", "12.1")])
def test_r002_the_gate_of_this_version_and_gpu_refuses_12_8(version: str, capability: str) -> None:
    wish = asked(gpus={"count": "8", "capability": capability})
    made = plan(wish, with_12_9_beside(version, capability))
    assert SM75 in consequence(made, "FlashInfer")
    assert made.env["CUDA_HOME"] == "/usr/local/cuda-12.9"


def test_r002_the_gate_of_0_7_2_lets_12_8_pass_for_12_0() -> None:
    made = plan(here=with_12_9_beside("0.7.2", "12.0"))
    assert consequence(made, "FlashInfer") == ""


# R003 flashinfer-ai/flashinfer#3675: a brand-new card is blamed where the old nvcc is the cause.


def test_r003_the_text_that_blames_the_card_is_led_back_to_the_toolkit() -> None:
    text = told(led_to("12.8"))
    assert SM75 in section(text, 1)
    assert "no architecture" in section(text, 1)
    assert "/usr/local/cuda: nvcc 12.8 in /usr/local/cuda-12.8" in section(text, 2)
    assert "12.8 < 12.9, which FlashInfer 0.6.8 asks for on compute capability 12.0" in section(text, 2)


def test_r003_where_the_toolkit_is_right_the_text_is_not_there() -> None:
    assert SM75 not in told(led_to("13.0"))


# R004 vllm-project/vllm#42393: the same text, and nothing in the issue that would show the cause.


def test_r004_the_report_holds_what_an_issue_needs() -> None:
    text = told(led_to("12.8", environ={"CUDA_HOME": "/usr/local/cuda", "HF_TOKEN": "hf_nobodysToken"}))
    for fact in (
        "torch    2.11.0+cu130, built for CUDA 13.0",
        "driver   580.95.05, knows CUDA up to 13.0",
        "compute capability 12.0",
        "nvcc 12.8 in /usr/local/cuda-12.8",
        "FLASHINFER_CUDA_ARCH_LIST  (not set)",
        SM75,
    ):
        assert fact in text
    assert any(line.split()[:2] == ["CUDA_HOME", "/usr/local/cuda"] for line in text.splitlines())
    assert "hf_nobodysToken" not in text


def test_r004_where_nothing_is_wrong_it_holds_the_same_and_no_symptom() -> None:
    text = told(led_to("13.0"))
    assert "nvcc 13.0" in text
    assert "!" not in section(text, 1)


# R005 vllm-project/vllm#44305: CUDA_HOME was pointed into the wheels, whose nvcc is 13.3 beside headers of 13.0.


def in_the_wheels(release: str) -> Facts:
    wheels = toolkit(WHEEL_13.root, release, kind="wheel", found=("CUDA_HOME", "the target's wheels"),
                     headers_release="13.0", parts=WHEEL_13.parts)  # fmt: skip
    return led_to(None, beside=(wheels,), environ={"CUDA_HOME": WHEEL_13.root})


def test_r005_the_mismatch_within_the_wheels_is_named_with_both_numbers_and_they_are_not_used() -> None:
    here = in_the_wheels("13.3")
    assert "- nvcc 13.3 lies beside headers of CUDA 13.0" in section(told(here), 2)
    made = plan(here=here)
    assert made.toolkit.source != WHEEL_13.root
    assert "'nvidia-cuda-nvcc==13.0.*'" in finding(made, "toolkit-hidden").fix


def test_r005_wheels_of_one_minor_are_used() -> None:
    made = plan(here=in_the_wheels("13.0"))
    assert made.toolkit.source == WHEEL_13.root
    assert "toolkit-hidden" not in codes(made)


# R008 flashinfer-ai/flashinfer#1919: a worker could not find nvcc though it was on the user's PATH.


def elsewhere(**environ: str) -> Facts:
    """A toolkit that only a variable leads to."""
    return led_to(None, beside=(toolkit("/opt/toolkits/13.0", "13.0", found=("profile",)),), environ=environ)


def test_r008_the_child_is_told_the_root_so_that_the_order_of_lookups_never_matters() -> None:
    found = lookup(elsewhere())
    assert found.callers is not None and found.callers.errors == {"path": "RuntimeError"}
    assert found.planned is not None and found.planned.path == "/opt/toolkits/13.0"
    assert "every kernel that has to be compiled fails with RuntimeError" in section(told(elsewhere()), 1)


def test_r008_where_the_callers_environment_names_it_nothing_is_lost() -> None:
    here = elsewhere(CUDA_HOME="/opt/toolkits/13.0")
    found = lookup(here)
    assert found.callers is not None and found.callers.path == "/opt/toolkits/13.0"
    assert "!" not in section(told(here), 1)


# R009 NVIDIA-NeMo/Gym#1405: a fresh install on a workstation without a toolkit.


def test_r009_without_a_compiler_and_prebuilt_kernels_both_ways_out_are_named() -> None:
    made = plan(here=led_to(None))
    told_of_it = finding(made, "toolkit-hidden")
    assert made.blocked
    assert "flashinfer-jit-cache 0.6.8 is not in the target" in told_of_it.message
    assert "-m pip install 'nvidia-cuda-nvcc==13.0.*'" in told_of_it.fix
    assert "[toolkit-hidden]" in section(told(led_to(None)), 5)


def test_r009_with_prebuilt_kernels_of_the_very_version_none_is_needed() -> None:
    made = plan(here=led_to(None, target=flashinfer("0.6.8", **{"flashinfer-jit-cache": "0.6.8+cu130"})))
    assert "cannot be compiled" not in finding(made, "toolkit-hidden").message


# R011 smg-project/smg#2566: a service's PATH lacks the toolkit's bin, and what asks `which nvcc` turns itself off.


@pytest.mark.parametrize("on_path", [False, True], ids=["a service's PATH", "a shell's PATH"])
def test_r011_the_childs_first_nvcc_on_path_is_the_chosen_one_whatever_the_callers_path_is(on_path: bool) -> None:
    own = toolkit("/usr/local/cuda-13.0", "13.0", found=("/usr/local/cuda",))
    here = led_to("13.0") if on_path else led_to(None, beside=(own,))
    made = plan(here=here)
    assert made.search_path[0].path == f"{made.env['CUDA_HOME']}/bin" == "/usr/local/cuda-13.0/bin"
    rows = [line.split() for line in section(told(here), 3).splitlines()]
    assert ["PATH", "/usr/local/cuda/bin", "/usr/local/cuda-13.0/bin"] in rows
    callers = diagnosis(here).causes
    assert [cause.path for cause in callers] == (["/usr/local/cuda"] if on_path else [])


# R012 sgl-project/sglang#5002: libnvrtc.so.12 is not found in a "runtime" image, though it lies in a wheel.


def needing(name: str, where: str | None, cuda: str = "12.9") -> Facts:
    """A target whose kernels need one library."""
    file = f"{SITE}/sgl_kernel/sm100/common_ops.abi3.so"
    there = target(packages={**PACKAGES, "sglang-kernel": "0.4.10"}, cuda=cuda)
    module = NativeModule(package="sglang-kernel", file=file, needs={name: where})
    return led_to(None, target=there, modules=(module,))


def test_r012_the_library_is_found_in_the_wheels_and_its_place_is_named() -> None:
    where = f"{SITE}/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
    here = needing("libnvrtc.so.12", where)
    assert f"+ libnvrtc.so.12: {where}\n" in told(here)
    assert "library-missing" not in codes(plan(here=here))


def test_r012_a_library_that_is_nowhere_is_named_with_the_wheel_that_brings_it() -> None:
    here = needing("libnvrtc.so.12", None)
    said = finding(plan(here=here), "library-missing")
    assert "common_ops.abi3.so of sglang-kernel 0.4.10 needs libnvrtc.so.12" in said.message
    assert said.fix.endswith("-m pip install nvidia-cuda-nvrtc-cu12")
    assert "- libnvrtc.so.12: nowhere" in told(here)


def test_r041_vllm_47628_kernels_for_another_cuda_than_torchs_are_named_with_both_numbers() -> None:
    """R033 sgl-project/sglang#18203, R041 vllm-project/vllm#47628: the library's own hint names the wrong wheel."""
    where = f"{SITE}/nvidia/cu13/lib/libcudart.so.13"
    said = finding(plan(here=needing("libcudart.so.13", where)), "built-for-another-cuda").message
    assert "sglang-kernel 0.4.10 was built for CUDA 13, torch for 12.9" in said
    assert "built-for-another-cuda" not in codes(plan(here=needing("libcudart.so.13", where, cuda="13.0")))
