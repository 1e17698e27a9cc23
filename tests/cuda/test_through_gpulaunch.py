"""Inside gpulaunch the same functions of the same FlashInfer find the right toolkit, or none, in every situation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.conftest import Hosts
from tests.cuda.fatbin import architectures
from tests.cuda.situations import (
    MIXED,
    NEITHER,
    NEWEST,
    SYSTEM,
    WHEEL,
    WHEEL_PINNED,
    FoundingHost,
    Situation,
    release,
)

pytestmark = pytest.mark.cuda


@dataclass(frozen=True)
class Told:
    """What gpulaunch says it would do, and what FlashInfer then finds."""

    host: FoundingHost
    plan: dict[str, Any]
    answers: dict[str, Any]

    @property
    def root(self) -> str:
        """The root that the plan names."""
        root: str = self.plan["toolkit"]["root"]
        return root


@pytest.fixture(scope="session")
def told(host: FoundingHost) -> Told:
    """The dry run first: it must not need what the run makes."""
    return Told(host, host.plan(), host.inside("probe.py"))


def test_the_way_out_is_the_one_for_the_situation(told: Told) -> None:
    assert told.plan["toolkit"]["strategy"] == told.host.situation.strategy


def test_flashinfer_finds_the_root_that_the_plan_names(told: Told) -> None:
    assert told.answers["path"] == told.answers["torch_home"] == told.root
    assert told.plan["env"]["CUDA_HOME"] == told.plan["env"]["CUDA_PATH"] == told.root


def test_flashinfer_hears_a_release_that_knows_the_gpus(told: Told) -> None:
    assert release(told.answers["version"]) >= (12, 9)
    assert told.answers["version"] == (told.plan["toolkit"]["release"] or told.answers["torch_cuda"])


def test_flashinfer_builds_for_compute_capability_12_0(told: Told) -> None:
    assert [(major, minor.rstrip("af")) for major, minor in told.answers["archs"]] == [(12, "0")]


def test_the_cure_is_more_than_an_arch_list(told: Told) -> None:
    assert told.answers["arch_list"] == "12.0"
    assert told.answers["archs_without_list"] == [[12, "0f"]]


def test_the_check_that_ended_the_service_passes_without_a_warning(told: Told) -> None:
    assert told.answers["import"] == "ok"
    assert told.answers["check"] == "None"
    assert told.answers["warnings"] == []


def test_nvcc_in_the_child_is_the_chosen_one_or_none(told: Told) -> None:
    hidden = told.host.situation.strategy == "hide"
    assert told.answers["nvcc"] == (None if hidden else f"{told.root}/bin/nvcc")


def test_the_stale_cuda_runtime_stays_out_of_the_process(told: Told) -> None:
    assert [Path(path).name for path in told.answers["runtimes"]] == ["libcudart.so.13"]


def test_a_compiler_that_is_hidden_is_named_with_what_cannot_be_compiled(told: Told) -> None:
    sentences = [finding["message"] for finding in told.plan["findings"] if finding["code"] == "toolkit-hidden"]
    if told.host.situation.strategy != "hide":
        assert sentences == []
        return
    (sentence,) = sentences
    assert "/usr/local/cuda-12.8" in sentence
    assert f"cannot be compiled: FlashInfer {told.host.situation.flashinfer}" in sentence


@pytest.mark.parametrize(
    ("situation", "engine", "module", "objects"),
    [
        (WHEEL, "command", "quantization", 2),
        (WHEEL_PINNED, "sglang", "quantization", 2),
        (SYSTEM, "command", "sampling", 3),
    ],
    ids=["wheel-view-0.6.8", "wheel-view-0.6.12-as-sglang-sets-its-arch-list", "whole-toolkit-0.6.8"],
)
def test_in_an_empty_workspace_a_module_is_compiled_for_the_gpus_and_linked(
    hosts: Hosts, situation: Situation, engine: str, module: str, objects: int
) -> None:
    host = hosts(situation)
    workspace = Path(host.plan(engine)["env"]["FLASHINFER_WORKSPACE_BASE"])
    outside = host.outside("build.py", module, environ={"FLASHINFER_WORKSPACE_BASE": f"{host.machine.folder}/outside"})
    assert outside == {"error": "RuntimeError: FlashInfer requires GPUs with sm75 or higher"}
    assert not workspace.exists()

    built = host.inside("build.py", module, engine=engine)

    assert "error" not in built, built["error"]
    library = Path(built["library"])
    assert library.is_relative_to(workspace)
    assert architectures(library.read_bytes()) == {120}
    assert len(built["compiled"]) >= objects

    again = host.inside("build.py", module, engine=engine)

    assert again == built  # found as it was: no compiler was called


@pytest.mark.parametrize(("situation", "release"), [(MIXED, "13.2"), (NEWEST, "13.5")], ids=["mixed", "newest"])
def test_an_nvcc_of_another_minor_than_its_headers_is_refused_before_anything_is_compiled(
    hosts: Hosts, situation: Situation, release: str
) -> None:
    host = hosts(situation)
    plan = host.plan("sglang")
    verdicts = {verdict["root"]: verdict["because"] for verdict in plan["toolkit"]["verdicts"]}
    assert f"nvcc {release} lies beside headers of CUDA 13.0" in verdicts[str(host.wheels)]
    assert plan["blocked"]
    assert plan["exit_code"] == 78
    assert not list(host.machine.home.rglob(".ninja_log"))


def test_the_view_leaves_the_target_as_it_is(hosts: Hosts) -> None:
    host = hosts(WHEEL)
    before = set(host.wheels.rglob("*"))
    host.inside("probe.py")
    assert set(host.wheels.rglob("*")) == before


def test_what_the_finding_says_cannot_be_compiled_cannot(hosts: Hosts) -> None:
    assert "bin/nvcc: not found" in hosts(NEITHER).inside("build.py")["error"]
