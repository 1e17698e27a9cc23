"""The control: outside gpulaunch real FlashInfer falls into the trap, in every situation, and for the known reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cuda.conftest import Hosts
from tests.cuda.machine import CALLERS_PATH
from tests.cuda.situations import MIXED, NEITHER, NEITHER_PINNED, WHEEL, FoundingHost, Situation, release

pytestmark = pytest.mark.cuda

ITS_LAST_WORDS = "RuntimeError: FlashInfer requires GPUs with sm75 or higher"
BOTH_VERSIONS = pytest.mark.parametrize("situation", [NEITHER, NEITHER_PINNED], ids=lambda each: each.flashinfer)


@pytest.fixture(scope="session")
def answers(host: FoundingHost) -> dict[str, Any]:
    """FlashInfer's own functions, outside gpulaunch."""
    return host.outside("probe.py")


def test_the_target_is_real_and_built_for_cuda_13(host: FoundingHost, answers: dict[str, Any]) -> None:
    assert (answers["flashinfer"], answers["torch_cuda"]) == (host.situation.flashinfer, "13.0")


def test_flashinfer_takes_the_stale_nvcc_for_the_cuda_version(answers: dict[str, Any]) -> None:
    assert release(answers["version"]) == (12, 8)
    assert answers["path"] == answers["torch_home"] == "/usr/local/cuda"


def test_it_is_left_without_architectures_for_the_known_reason(answers: dict[str, Any]) -> None:
    # The same empty set without this warning has another cause, such as no driver.
    assert answers["archs"] == []
    assert "Failed to get device capability: SM 12.x requires CUDA >= 12.9." in answers["warnings"]


def test_it_dies_of_a_sentence_that_names_another_cause(answers: dict[str, Any]) -> None:
    assert answers["check"] == ITS_LAST_WORDS


def test_it_loads_the_stale_cuda_runtime_beside_torchs(answers: dict[str, Any]) -> None:
    assert sorted(Path(path).name for path in answers["runtimes"]) == ["libcudart.so.12", "libcudart.so.13"]


@BOTH_VERSIONS
def test_taking_the_stale_nvcc_off_path_cures_nothing(hosts: Hosts, situation: Situation) -> None:
    path = CALLERS_PATH.removeprefix("/usr/local/cuda/bin:")
    answers = hosts(situation).outside("probe.py", environ={"PATH": path})
    assert answers["nvcc"] is None
    assert (answers["version"], answers["check"]) == ("12.8", ITS_LAST_WORDS)


@BOTH_VERSIONS
def test_an_arch_list_alone_quiets_the_check_while_the_stale_nvcc_stays(hosts: Hosts, situation: Situation) -> None:
    answers = hosts(situation).outside("probe.py", environ={"FLASHINFER_CUDA_ARCH_LIST": "12.0a"})
    assert (answers["version"], answers["archs"], answers["check"]) == ("12.8", [[12, "0a"]], "None")
    assert answers["archs_without_list"] == []


@BOTH_VERSIONS
def test_an_arch_list_without_a_suffix_turns_the_warning_into_a_crash(hosts: Hosts, situation: Situation) -> None:
    answers = hosts(situation).outside("probe.py", environ={"FLASHINFER_CUDA_ARCH_LIST": "12.0"})
    assert answers["import"] == "RuntimeError: SM 12.x requires CUDA >= 12.9"


def test_a_module_cannot_be_built(hosts: Hosts) -> None:
    error, made = _build_outside(hosts(WHEEL))
    assert error == ITS_LAST_WORDS
    assert made == []


def test_an_arch_list_only_moves_the_failure_to_the_stale_nvcc(hosts: Hosts) -> None:
    error, made = _build_outside(hosts(WHEEL), FLASHINFER_CUDA_ARCH_LIST="12.0a")
    assert "/usr/local/cuda/bin/nvcc" in error
    assert "nvcc fatal   : the stand-in for CUDA 12.8 compiles nothing" in error
    assert made == []


def test_the_wheels_as_they_lie_compile_but_do_not_link(hosts: Hosts) -> None:
    """Why a wheel toolkit needs a view."""
    host = hosts(WHEEL)
    error, made = _build_outside(host, CUDA_HOME=str(host.wheels))
    assert "cannot find -lcudart" in error
    assert ".o" in made
    assert ".so" not in made


def test_wheels_of_two_releases_are_found_and_do_not_compile(hosts: Hosts) -> None:
    """Why a wheel toolkit is judged by its headers too: the lookup alone is satisfied."""
    host = hosts(MIXED)
    found = host.outside("probe.py", environ={"CUDA_HOME": str(host.wheels)})
    error, made = _build_outside(host, CUDA_HOME=str(host.wheels))
    assert (found["version"], found["check"]) == ("13.2", "None")
    assert "CUDA compiler and CUDA toolkit headers are incompatible" in error
    assert ".so" not in made


def _build_outside(host: FoundingHost, **environ: str) -> tuple[str, list[str]]:
    """Why the build fails in an empty workspace, and the kinds of files it leaves. Ninja is on PATH."""
    workspace = host.machine.folder / "workspace"
    path = f"{host.target}/bin:{CALLERS_PATH}"
    built = host.outside("build.py", environ={"FLASHINFER_WORKSPACE_BASE": str(workspace), "PATH": path, **environ})
    assert "error" in built, built
    return built["error"], sorted({file.suffix for file in workspace.rglob("*") if file.suffix in (".o", ".so")})
