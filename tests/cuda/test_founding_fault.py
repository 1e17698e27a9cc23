"""The control: outside gpulaunch real FlashInfer falls into the trap, in every situation, and for the known reason."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cuda.conftest import Hosts
from tests.cuda.lab import VERSIONS
from tests.cuda.machine import CALLERS_PATH
from tests.cuda.situations import NEITHER, WHEEL, FoundingHost, release

pytestmark = pytest.mark.cuda

ITS_LAST_WORDS = "RuntimeError: FlashInfer requires GPUs with sm75 or higher"


@pytest.fixture(scope="session")
def answers(host: FoundingHost) -> dict[str, Any]:
    """FlashInfer's own functions, outside gpulaunch."""
    return host.outside("probe.py")


def test_the_target_is_real_and_built_for_cuda_13(host: FoundingHost, answers: dict[str, Any]) -> None:
    assert answers["flashinfer"] in VERSIONS
    assert host.target.parent.name
    assert answers["torch_cuda"] == "13.0"


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
    names = [path.rpartition("/")[2] for path in answers["runtimes"]]
    assert names == ["libcudart.so.13", "libcudart.so.12"] or sorted(names) == ["libcudart.so.12", "libcudart.so.13"]


@pytest.mark.parametrize("version", VERSIONS)
def test_hiding_nvcc_from_path_alone_cures_nothing(hosts: Hosts, version: str) -> None:
    path = CALLERS_PATH.removeprefix("/usr/local/cuda/bin:")
    answers = hosts(NEITHER, version).outside("probe.py", {"PATH": path})
    assert answers["nvcc"] is None
    assert (answers["version"], answers["check"]) == ("12.8", ITS_LAST_WORDS)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_arch_list_alone_quiets_the_check_while_the_stale_nvcc_stays(hosts: Hosts, version: str) -> None:
    answers = hosts(NEITHER, version).outside("probe.py", {"FLASHINFER_CUDA_ARCH_LIST": "12.0a"})
    assert (answers["version"], answers["archs"], answers["check"]) == ("12.8", [[12, "0a"]], "None")
    assert answers["archs_without_list"] == []


def test_the_module_that_the_launcher_builds_cannot_be_built_outside(hosts: Hosts) -> None:
    host = hosts(WHEEL, "0.6.8")
    workspace = host.machine.folder / "workspace"
    assert host.outside("build.py", {"FLASHINFER_WORKSPACE_BASE": str(workspace)})["error"] == ITS_LAST_WORDS
    assert not list(workspace.rglob("*.so"))


def test_an_arch_list_only_moves_the_failure_to_the_stale_nvcc(hosts: Hosts) -> None:
    host = hosts(WHEEL, "0.6.8")
    workspace = host.machine.folder / "workspace"
    error = host.outside(
        "build.py",
        {
            "FLASHINFER_CUDA_ARCH_LIST": "12.0a",
            "FLASHINFER_WORKSPACE_BASE": str(workspace),
            "PATH": f"{host.target}/bin:{CALLERS_PATH}",  # ninja
        },
    )["error"]
    assert "/usr/local/cuda/bin/nvcc" in error
    assert "nvcc fatal   : the stand-in for CUDA 12.8 compiles nothing" in error
    assert not list(workspace.rglob("*.so"))


def test_the_wheels_as_they_lie_compile_but_do_not_link(hosts: Hosts) -> None:
    """Why a wheel toolkit needs a view."""
    host = hosts(WHEEL, "0.6.8")
    workspace = host.machine.folder / "workspace"
    (root,) = host.target.glob("lib/python3.*/site-packages/nvidia/cu13")
    error = host.outside(
        "build.py",
        {
            "CUDA_HOME": str(root),
            "FLASHINFER_WORKSPACE_BASE": str(workspace),
            "PATH": f"{host.target}/bin:{CALLERS_PATH}",
        },
    )["error"]
    assert "cannot find -lcudart" in error
    assert list(workspace.rglob("*.o"))
    assert not list(workspace.rglob("*.so"))
