"""A distribution's own toolkit is judged right: Debian's real nvcc 12.4, whose /usr/bin/nvcc is a wrapper script.

CUDA_HOME=/usr would be what libraries take from it (vllm-project/vllm#8665), and /usr/bin cannot leave PATH.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.lab import Lab
from tests.cuda.machine import Machine
from tests.cuda.situations import NEITHER, SYSTEM, FoundingHost, Situation
from tests.cuda.test_doctor import told

pytestmark = pytest.mark.cuda

DEBIANS = "/usr/lib/nvidia-cuda-toolkit"
TOOLS = ("python3", "gcc", "c++", "ninja", "ls", "ldconfig", "which")
Debian = Callable[[Situation], FoundingHost]


@pytest.fixture
def debian(lab: Lab, tmp_path: Path) -> Debian:
    """A machine where the package nvidia-cuda-toolkit is installed, and no other CUDA but the situation's."""
    if lab.distribution is None:
        reason = "Debian's nvidia-cuda-toolkit is not in the lab: ci/install_cuda.py fetches it where apt is"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)

    def host(situation: Situation) -> FoundingHost:
        toolkit = lab.toolkit if situation.system else None
        machine = Machine(tmp_path, stale=False, toolkit=toolkit, distribution=lab.distribution)
        return FoundingHost(machine, lab.environment(situation.environment), situation)

    return host


def verdicts(plan: dict[str, Any]) -> dict[str, str]:
    """Why each root that was found does not fit."""
    return {one["root"]: one["because"] for one in plan["toolkit"]["verdicts"] if not one["fits"]}


def test_the_control_real_libraries_take_usr_for_the_root_and_the_compiler_does_not_know_the_gpus(
    debian: Debian,
) -> None:
    host = debian(NEITHER)
    answers = host.outside("probe.py")
    assert (answers["path"], answers["torch_home"], answers["version"]) == ("/usr", "/usr", "12.4")
    assert answers["check"] == "RuntimeError: FlashInfer requires GPUs with sm75 or higher"
    (host.machine.home / "empty.cu").touch()
    compiled = host.machine.run(["nvcc", "-gencode=arch=compute_120,code=sm_120", "-c", "empty.cu"])
    assert "Unsupported gpu architecture 'compute_120'" in compiled.stderr


def test_the_true_root_is_found_behind_the_wrapper_and_refused_with_the_numbers(debian: Debian) -> None:
    plan = debian(NEITHER).plan()
    assert plan["toolkit"]["strategy"] == "hide"
    because = verdicts(plan)[DEBIANS]
    assert "12.4 < 12.9, which FlashInfer 0.6.8 asks for on compute capability 12.0" in because
    assert "12.4 < 12.8, the first CUDA that knows compute capability 12.0" in because
    assert "CUDA 12.4 is another major release than torch's 13.0" in because
    assert "package nvidia-cuda-toolkit" in because
    assert "/usr" not in verdicts(plan)


@pytest.mark.parametrize("situation", [NEITHER, SYSTEM], ids=lambda one: one.name)
def test_usr_bin_stays_on_path_without_its_nvcc(debian: Debian, situation: Situation) -> None:
    host = debian(situation)
    nvcc = "/usr/local/cuda-13.0/bin/nvcc" if situation.system else None
    assert host.inside("probe.py")["nvcc"] == nvcc
    found = host.run_inside("which", *TOOLS)
    assert found.returncode == 0, found.stdout + found.stderr
    assert len(found.stdout.split()) == len(TOOLS)
    every = host.run_inside("which", "-a", "nvcc")
    assert every.stdout.split() == ([nvcc] if nvcc else [])


@pytest.mark.parametrize("situation", [NEITHER, SYSTEM], ids=lambda one: one.name)
def test_inside_flashinfer_hears_of_another_release(debian: Debian, situation: Situation) -> None:
    answers = debian(situation).inside("probe.py")
    assert (answers["version"], answers["check"], answers["warnings"]) == ("13.0", "None", [])
    assert "12.4" not in str(answers["path"])


def test_the_libraries_say_what_was_predicted_of_them(debian: Debian) -> None:
    compared = told(debian(NEITHER), "--verify")["verified"]
    assert [one for one in compared if one["verdict"] == "not-as-predicted"] == []
    callers = {one["consumer"]: one["predicted"] for one in compared if one["environment"] == "callers"}
    assert (callers["FlashInfer"]["path"], callers["FlashInfer"]["release"]) == ("/usr", "12.4")


def test_without_the_package_nothing_of_it_is_found(lab: Lab, tmp_path: Path) -> None:
    plan = FoundingHost(Machine(tmp_path, stale=False), lab.environment("founding"), NEITHER).plan()
    assert not [root for root in verdicts(plan) if root.startswith("/usr")]
