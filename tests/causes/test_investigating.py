"""All that is looked at for one start: ours is told from our neighbours', and the founding fault has its numbers."""

from __future__ import annotations

from dataclasses import replace

from launcher.causes import founding
from launcher.causes.concluding import End
from launcher.causes.investigating import Inquiry, gathered
from launcher.model import Found, Gpu, Plan, Prediction
from tests.report.builders import a_plan

OURS = Gpu(index=0, name="RTX", uuid="GPU-1", capability="12.0", memory_total=1, bus_id="00000000:41:00.0")
LOST = "NVRM: Xid (PCI:0000:{}:00): 79, GPU has fallen off the bus."
FAULT = "NVRM: Xid (PCI:0000:41:00): 31, pid={}, name=python3, MMU Fault"


def plan(**more: object) -> Plan:
    return replace(a_plan(), gpus=(OURS,), **more)  # type: ignore[arg-type]


def test_a_neighbours_gpu_and_a_neighbours_process_are_not_ours() -> None:
    seen = gathered([LOST.format("42"), FAULT.format(9)], 0, plan(), {7})
    assert seen.xids == ()
    ours = gathered([LOST.format("41"), FAULT.format(7)], 0, plan(), {7})
    assert [xid.number for xid in ours.xids] == [79, 31]


def test_where_it_is_not_known_which_gpus_are_ours_a_lost_one_counts() -> None:
    assert gathered([LOST.format("42")], None, replace(plan(), gpus=None), {7}).xids


def test_a_neighbour_that_was_ended_for_memory_is_not_ours() -> None:
    killed = "Out of memory: Killed process 9 (java) total-vm:1kB"
    assert gathered([killed], 0, plan(), {7}).out_of_memory is False
    assert gathered([killed], 0, plan(), {9}).out_of_memory is True


def test_r003_the_founding_fault_is_explained_with_this_machines_numbers() -> None:
    """R003 flashinfer-ai/flashinfer#3675: the card is blamed, the toolkit is to blame."""
    prediction = Prediction(
        consumer="FlashInfer", version="0.6.8", callers=None, planned=Found(path="/usr/local/cuda-12.8", release="12.8")
    )
    inquiry = Inquiry()
    try:
        inquiry.recogniser.feed("RuntimeError: FlashInfer requires GPUs with sm75 or higher\n")
        end = End(wait_status=1 << 8, requested=False, ready=False)
        made = inquiry.conclude(end, plan(predictions=(prediction,)), ())
    finally:
        inquiry.close()
    assert made is not None and not made.can_heal
    for number in ("12.0", "0.6.8", "CUDA 12.8 in /usr/local/cuda-12.8", "asks for CUDA 12.9 or newer"):
        assert number in made.cause, made.cause
    assert "gpulaunch doctor --verify" in made.fix


def test_without_numbers_the_founding_fault_is_explained_all_the_same() -> None:
    bare = replace(a_plan(), gpus=None, predictions=())
    assert founding.explanation(bare).startswith("the GPUs are not to blame: FlashInfer found no architecture")
