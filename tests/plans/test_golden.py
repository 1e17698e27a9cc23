"""Shipped profiles' plans on described machines are what their files say; a changed fact changes its own lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from launcher.caches import CACHES
from launcher.model import Facts
from launcher.report.golden import golden
from tests.builders import SYSTEM_13
from tests.plans.golden import CASES, WHY, machine, paragraph, path, plan, rendered


@pytest.mark.parametrize(("profile", "name"), CASES)
def test_the_plan_is_what_its_file_says(profile: str, name: str) -> None:
    written = path(profile, name).read_text(encoding="utf-8").partition(WHY)[0]
    assert rendered(profile, name) == written, "python -m tests.plans.golden writes them anew; read the difference"


@pytest.mark.parametrize(("profile", "name"), CASES)
def test_a_person_said_why_it_is_right(profile: str, name: str) -> None:
    why = paragraph(path(profile, name))
    assert len(why.split()) > 40
    for word in ("CUDA_HOME", "PATH", "argv"):
        assert word in why


@pytest.mark.parametrize("name", ["founding", "founding-with-wheel-13.0", "founding-with-system-13.0"])
def test_on_the_founding_host_every_folder_on_path_holds_no_nvcc_or_the_chosen_one(name: str) -> None:
    there = machine(name)
    made = plan("kimi-k26-dflash", there)
    known = {folder.path: folder for folder in there.folders}
    holders = [known[path].nvcc_root for path in made.env["PATH"].split(":") if path in known and known[path].nvcc]
    assert set(holders) <= {made.toolkit.root, made.toolkit.source}
    assert made.toolkit.strategy in ("wheel", "redirect", "hide")
    assert made.env["CUDA_HOME"] != "/usr/local/cuda-12.8"
    assert made.env["FLASHINFER_CUDA_ARCH_LIST"].startswith("12.0")
    because = {entry.name: entry.because for entry in made.changes}
    assert all(because[variable] for variable in ("PATH", "CUDA_HOME", "FLASHINFER_CUDA_ARCH_LIST"))


def changed_lines(after: Facts) -> tuple[set[str], set[str]]:
    """What goes and what comes in the founding plan's text; its first words tell which lines."""
    old = golden(plan("kimi-k26-dflash", machine("founding"))).splitlines()
    new = golden(plan("kimi-k26-dflash", after)).splitlines()
    return set(old) - set(new), set(new) - set(old)


def heads(lines: set[str]) -> set[str]:
    """The names that the lines begin with."""
    return {line.strip().partition(" ")[0].partition("=")[0].rstrip(":") for line in lines}


TOOLKIT_LINES = {
    "exit", "strategy", "root", "source", "release", "how", "because", "fits", "unfit", "set", "CUDA_HOME", "CUDA_PATH",
    "CUDA_LIB_PATH", "MAX_JOBS", "PATH", "folder", "hide-root", "note", "warning", "error", "fix",
    "PyTorch", "Triton", "FlashInfer", "tvm-ffi", "the",  # predictions: "the caller's: ..."
    *(cache.variable for cache in CACHES if not cache.covers_toolkit),
}  # fmt: skip


def without_paths(found: set[str]) -> set[str]:
    """Lines of the PATH section begin with their folder."""
    return {head for head in found if not head.startswith("/")}


def test_a_toolkit_of_13_0_instead_of_12_8_changes_only_what_names_the_toolkit() -> None:
    there = machine("founding")
    gone, came = changed_lines(replace(there, toolkits=(replace(SYSTEM_13, found=there.toolkits[0].found),)))
    assert gone and came
    assert without_paths(heads(gone) | heads(came)) <= TOOLKIT_LINES
    assert any("13.0" in line and "CUDA_HOME" in line for line in came)


def test_torch_for_cuda_12_8_changes_only_the_reasons_and_what_blocks() -> None:
    there = machine("founding")
    assert there.target is not None and there.target.torch is not None
    older = replace(there, target=replace(there.target, torch=replace(there.target.torch, cuda="12.8")))
    gone, came = changed_lines(older)
    assert without_paths(heads(gone) | heads(came)) <= TOOLKIT_LINES
    assert any("torch-below-floor" in line for line in came)


def test_one_gpu_less_changes_only_the_finding_that_says_so() -> None:
    there = machine("founding")
    assert there.gpus is not None
    gone, came = changed_lines(replace(there, gpus=there.gpus[:-1]))
    assert heads(gone) <= {"exit"}
    assert all("GPUs" in line or "gpus.count" in line or line.startswith("exit") for line in came)
    assert any("too-few-gpus" in line for line in came)


def test_the_same_facts_and_profile_give_the_same_bytes_wherever_they_are_planned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = rendered("kimi-k26-dflash", "founding")
    monkeypatch.setenv("CUDA_HOME", "/somewhere/else")
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.chdir("/")
    assert rendered("kimi-k26-dflash", "founding") == before
