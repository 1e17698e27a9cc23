"""One version of the kernel's driver and its libraries: NVML's own word counts most."""

from __future__ import annotations

from dataclasses import replace

import pytest

from launcher.model import SystemLibrary
from launcher.preflight import driver
from launcher.preflight.moment import Moment
from launcher.supervise.gpu_memory import Looked
from tests.preflight.conftest import Make

SAID = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build  (dvs-builder)\n"


def with_kernel(made: Moment, version: str) -> Moment:
    (made.proc / "driver/nvidia/version").write_text(SAID.format(version=version))
    return made


def with_library(made: Moment, version: str) -> Moment:
    place, real = "/usr/lib/libnvidia-ml.so.1", f"/usr/lib/libnvidia-ml.so.{version}"
    library = SystemLibrary(name="libnvidia-ml.so.1", path=place, real=real, cached=True)
    return replace(made, facts=replace(made.facts, system_libraries=(library,)))


def test_what_nvml_calls_a_mismatch_is_69(moment: Make) -> None:
    made = with_kernel(moment(nvml=Looked(None, "mismatch", mismatch=True)), "570.86.10")
    (found,) = driver.check(made)
    assert (found.code, found.exit_code) == ("driver-mismatch", 69)
    assert "the kernel module is 570.86.10" in found.message


def test_two_versions_are_one_where_nvml_cannot_be_asked(moment: Make) -> None:
    silent = Looked(None, "nvidia-ml-py is not installed")
    made = with_library(with_kernel(moment(nvml=silent), "570.86.10"), "580.95.05")
    (found,) = driver.check(made)
    assert "570.86.10, the library 580.95.05" in found.message


@pytest.mark.parametrize("nvml", [None, Looked(None, "nobody answers")], ids=["NVML answers", "NVML is silent"])
def test_one_version_is_nothing_to_say(moment: Make, nvml: Looked | None) -> None:
    made = with_library(with_kernel(moment(nvml=nvml), "580.95.05"), "580.95.05")
    assert list(driver.check(made)) == []


def test_a_machine_without_a_driver_has_no_mismatch(moment: Make) -> None:
    assert list(driver.check(moment(nvml=Looked(None, "there is no libnvidia-ml.so.1")))) == []
