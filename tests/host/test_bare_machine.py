"""`env -i` on a machine without nvcc, NVML and target: the whole story is told, and nothing is written to disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cuda.machine import Machine

pytestmark = pytest.mark.host

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """No CUDA anywhere. Needs root for its mount namespace."""
    if os.getuid() != 0:
        reason = "a private mount namespace needs root"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return Machine(tmp_path, stale=False)


def test_explain_tells_the_whole_story_and_writes_nothing(machine: Machine) -> None:
    home = machine.home
    command = ["env", "-i", sys.executable, "-m", "launcher", "explain", "--profile", "kimi-k26-dflash"]
    # A folder that names itself in the module search path: `env -i` leaves no PYTHONPATH.
    inside = ["sh", "-c", f'cd {ROOT} && exec "$@"', "sh", *command]
    machine.run(["true"])
    before = sorted(home.rglob("*"))
    told = machine.run(inside, environ={"PATH": "/usr/bin:/bin"})
    assert told.returncode == 0, told.stderr
    assert "Traceback" not in told.stderr
    story = told.stdout
    for word in (
        "CUDA_HOME", "FLASHINFER_CUDA_ARCH_LIST", "12.0a", "PATH", "sglang.launch_server", "--speculative-algorithm",
        "no-target", "assumed: the target could not be read", "Could not tell gpus", "z-lab/Kimi-K2.6-DFlash",
    ):  # fmt: skip
        assert word in story, word
    assert sorted(home.rglob("*")) == before


def test_the_control_sees_a_toolkit_where_there_is_one(tmp_path: Path, machine: Machine) -> None:
    stale = Machine(tmp_path / "stale-host")
    stale.folder.mkdir()
    inside = [
        "sh",
        "-c",
        f'cd {ROOT} && exec "$@"',
        "sh",
        sys.executable,
        "-m",
        "launcher",
        "explain",
        "--profile",
        "kimi-k26-dflash",
    ]
    assert "/usr/local/cuda-12.8" in stale.run(inside).stdout
    assert "/usr/local/cuda-12.8" not in machine.run(inside).stdout
