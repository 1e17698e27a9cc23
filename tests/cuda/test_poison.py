"""A build that began under a stale nvcc keeps it, whatever CUDA_HOME says later, until gpulaunch moves it aside.

flashinfer-ai/flashinfer#3229: nothing here is described, all of it is FlashInfer 0.6.8's own doing.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.conftest import Hosts
from tests.cuda.fatbin import architectures
from tests.cuda.machine import CALLERS_PATH
from tests.cuda.situations import HERE, WHEEL, FoundingHost

pytestmark = pytest.mark.cuda

# 12.0f is what FlashInfer 0.6.8 makes of 12.0: the same folder outside and inside.
ARCHITECTURE = "12.0f"
THE_STALE_ONE = "nvcc fatal   : the stand-in for CUDA 12.8 compiles nothing"
PROFILE = """\
schema: 1
name: poisoned
engine: command
command: [python, server.py]
ready: none
cuda: {{arch: ["12.0"]}}
target: {{venv: {target}}}
env: {{set: {{FLASHINFER_WORKSPACE_BASE: {workspace}}}}}
"""


@dataclass(frozen=True)
class Poisoned:
    """A founding host whose workspace was begun by hand, under the stale nvcc."""

    host: FoundingHost
    workspace: Path

    def by_hand(self, **environ: str) -> dict[str, Any]:
        """A build from the caller's shell, with the ninja of the target."""
        said = {
            "PATH": f"{self.host.target}/bin:{CALLERS_PATH}",
            "FLASHINFER_WORKSPACE_BASE": str(self.workspace),
            "FLASHINFER_CUDA_ARCH_LIST": ARCHITECTURE,
            **environ,
        }
        return self.host.outside("build.py", environ=said)

    def gpulaunch(self, *words: str | Path) -> str:
        """What gpulaunch prints, with a profile that names this workspace."""
        profile = self.host.machine.folder / "poisoned.yaml"
        profile.write_text(PROFILE.format(target=self.host.target, workspace=self.workspace))
        command, *rest = words
        done = self.host.machine.run([sys.executable, "-m", "launcher", command, "--profile", profile, *rest])
        assert done.stdout, done.stderr
        return done.stdout

    @property
    def modules(self) -> list[Path]:
        """What FlashInfer would find."""
        return list(self.workspace.glob(".cache/flashinfer/0.6.8/120f/cached_ops/quantization"))


@pytest.fixture(scope="module")
def poisoned(hosts: Hosts) -> Poisoned:
    made = Poisoned(hosts(WHEEL), Path())
    made = Poisoned(made.host, made.host.machine.folder / "workspace")
    assert THE_STALE_ONE in made.by_hand()["error"]
    return made


def test_poison_is_found_moved_aside_and_gone(poisoned: Poisoned) -> None:
    host = poisoned.host
    (module,) = poisoned.modules
    root = host.plan()["toolkit"]["root"]
    host.inside("probe.py")  # makes the view, and touches no workspace of this test

    # The control: with the right toolkit in CUDA_HOME the old compiler is called all the same.
    again = poisoned.by_hand(CUDA_HOME=root, CUDA_PATH=root)
    assert THE_STALE_ONE in again["error"]
    assert "cuda_home = /usr/local/cuda\n" in (module / "build.ninja").read_text()

    plan = json.loads(poisoned.gpulaunch("command", "--dry-run", "--json"))
    (told,) = (finding for finding in plan["findings"] if finding["code"] == "poisoned-build")
    assert "module quantization" in told["message"]
    assert "/usr/local/cuda/bin/nvcc (CUDA 12.8)" in told["message"]
    assert f"{root}/bin/nvcc (CUDA 13.0)" in told["message"]
    assert poisoned.modules, "a dry run moves nothing"

    built = json.loads(poisoned.gpulaunch("env", "--", "python", HERE / "build.py", "quantization").splitlines()[-1])
    assert "error" not in built, built
    assert Path(built["library"]).is_relative_to(poisoned.workspace)
    assert architectures(Path(built["library"]).read_bytes()) == {120}
    assert f"cuda_home = {root}\n" in (module / "build.ninja").read_text()
    (aside,) = poisoned.workspace.glob(".cache/flashinfer/0.6.8/120f/cached_ops.set-aside-*/quantization/build.ninja")
    assert "cuda_home = /usr/local/cuda\n" in aside.read_text()

    after = json.loads(poisoned.gpulaunch("command", "--dry-run", "--json"))
    assert "poisoned-build" not in {finding["code"] for finding in after["findings"]}
