"""Inside gpulaunch the same functions of the same FlashInfer find the right toolkit, or none, in every situation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.conftest import Hosts
from tests.cuda.fatbin import architectures
from tests.cuda.situations import MIXED, NEITHER, WHEEL, WHEEL_PINNED, FoundingHost, Situation, release

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


def test_wheels_of_two_releases_are_refused_with_both_numbers(hosts: Hosts) -> None:
    host = hosts(MIXED)
    verdicts = {verdict["root"]: verdict["because"] for verdict in host.plan()["toolkit"]["verdicts"]}
    assert "nvcc 13.2 lies beside headers of CUDA 13.0" in verdicts[str(host.wheels)]


@pytest.mark.parametrize(
    ("situation", "engine"),
    [(WHEEL, "command"), (WHEEL_PINNED, "sglang")],
    ids=["0.6.8", "0.6.12-as-sglang-sets-its-arch-list"],
)
def test_with_the_wheel_view_a_module_is_compiled_for_the_gpus_and_linked(
    hosts: Hosts, situation: Situation, engine: str
) -> None:
    host = hosts(situation)
    workspace = Path(host.plan(engine)["env"]["FLASHINFER_WORKSPACE_BASE"])
    outside = host.outside("build.py", {"FLASHINFER_WORKSPACE_BASE": str(host.machine.folder / "outside")})
    assert outside == {"error": "RuntimeError: FlashInfer requires GPUs with sm75 or higher"}
    assert not workspace.exists()

    built = host.inside("build.py", engine)

    assert "error" not in built, built["error"]
    library = Path(built["library"])
    assert library.is_relative_to(workspace)
    assert architectures(library.read_bytes()) == {120}


def test_the_view_leaves_the_target_as_it_is(hosts: Hosts) -> None:
    host = hosts(WHEEL)
    before = set(host.wheels.rglob("*"))
    host.inside("probe.py")
    assert set(host.wheels.rglob("*")) == before


def test_what_the_finding_says_cannot_be_compiled_cannot(hosts: Hosts) -> None:
    assert "bin/nvcc: not found" in hosts(NEITHER).inside("build.py")["error"]
