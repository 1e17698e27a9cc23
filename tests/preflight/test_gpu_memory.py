"""Free memory of the GPUs that the server will use: what is enough its command line says; who holds it is named."""

from __future__ import annotations

import os

import pytest

from launcher.preflight import gpu_memory
from launcher.preflight.gpu_memory import needed
from launcher.supervise.gpu_memory import Looked
from tests import builders
from tests.preflight.conftest import Make, looked

NEARLY_ALL = 95_000  # MiB


def test_a_gpu_in_other_hands_is_75_with_pid_user_command_and_mib(moment: Make) -> None:
    (found,) = gpu_memory.check(moment(nvml=looked((3, os.getpid(), NEARLY_ALL))))
    assert (found.code, found.exit_code) == ("gpu-held", 75)
    assert found.message.startswith("GPU 3 has 2,887 MiB free of 97,887")
    assert f"process {os.getpid()} (" in found.message
    assert "user " in found.message
    assert "holds 95,000 MiB" in found.message


def test_every_holder_is_named(moment: Make) -> None:
    (found,) = gpu_memory.check(moment(nvml=looked((0, os.getpid(), 50_000), (0, os.getppid(), 45_000))))
    assert f"process {os.getpid()} " in found.message
    assert f"process {os.getppid()} " in found.message


def test_free_gpus_are_nothing_to_say(moment: Make) -> None:
    assert list(gpu_memory.check(moment())) == []


def test_a_gpu_that_the_server_does_not_use_may_be_full(moment: Make) -> None:
    wish = builders.asked(args={"tp-size": "2"}, gpus={"count": "2"})
    assert list(gpu_memory.check(moment(wish, nvml=looked((5, os.getpid(), NEARLY_ALL))))) == []
    assert list(gpu_memory.check(moment(wish, nvml=looked((1, os.getpid(), NEARLY_ALL))))) != [], "the control"


def test_a_desktops_windows_are_not_worth_a_word_and_a_neighbour_is(moment: Make) -> None:
    assert list(gpu_memory.check(moment(nvml=looked((0, os.getpid(), 500))))) == []
    (found,) = gpu_memory.check(moment(nvml=looked((0, os.getpid(), 4_000))))
    assert (found.code, found.exit_code) == ("gpu-shared", 0)


def test_where_nvml_cannot_be_asked_that_is_a_note(moment: Make) -> None:
    (found,) = gpu_memory.check(moment(nvml=Looked(None, "nobody answers")))
    assert (found.code, found.exit_code) == ("gpus-not-asked", 0)


@pytest.mark.parametrize(
    ("engine", "flags", "share"),
    [
        ("vllm", (), 0.9),
        ("vllm", ("--gpu-memory-utilization", "0.5"), 0.5),
        ("vllm", ("--kv-cache-memory-bytes", "1G"), 0.1),
        ("sglang", ("--mem-fraction-static", "0.8"), 0.8),
        ("sglang", (), 0.1),
        ("command", (), 0.1),
        ("vllm", ("--gpu-memory-utilization", "lots"), 0.9),
    ],
)
def test_what_is_enough_the_command_line_says(engine: str, flags: tuple[str, ...], share: float) -> None:
    assert needed(engine, flags)[0] == share
