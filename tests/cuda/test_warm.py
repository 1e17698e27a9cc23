"""`cache warm` compiles with real FlashInfer what a server will need; the server then calls no compiler."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cuda.conftest import Hosts
from tests.cuda.fatbin import architectures
from tests.cuda.situations import WHEEL_PINNED

pytestmark = pytest.mark.cuda

# Sampling takes minutes; the others show the same.
PROFILE = """\
schema: 1
name: warm
engine: sglang
model: some/model
args: {{sampling-backend: pytorch}}
target: {{venv: {target}}}
cuda: {{arch: ["12.0"]}}
"""
WARMED = {"page", "norm", "quantization"}


def test_what_was_warmed_is_there_for_the_server(hosts: Hosts) -> None:
    host = hosts(WHEEL_PINNED)
    profile = host.machine.folder / "warm.yaml"
    profile.write_text(PROFILE.format(target=host.target))
    command = [sys.executable, "-m", "launcher", "cache", "warm", "--profile", profile]

    done = host.machine.run(command, timeout=1200)

    assert done.returncode == 0, done.stderr
    (workspace,) = host.machine.home.glob(".cache/gpulaunch/jit/13.0-sglang-*/flashinfer")
    libraries = {path.stem: path for path in workspace.rglob("*.so")}
    assert set(libraries) == WARMED
    assert architectures(libraries["quantization"].read_bytes()) == {120}
    by_warming = outputs(workspace)

    again = host.machine.run(command)

    assert again.returncode == 0, again.stderr
    assert "there already: norm" in again.stderr
    built = host.inside("build.py", "quantization", engine="sglang")
    assert Path(built["library"]) == libraries["quantization"]
    assert outputs(workspace) == by_warming, "no compiler was called again"


def outputs(workspace: Path) -> dict[Path, int]:
    """What compilers and linkers wrote, with the time of it."""
    return {path: path.stat().st_mtime_ns for path in workspace.rglob("*") if path.suffix in (".o", ".so")}
