"""On the founding hosts the libraries themselves say what `doctor` predicts, and a kernel is built as they build."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.conftest import Hosts
from tests.cuda.situations import NEITHER, SYSTEM, WHEEL, WHEEL_PINNED, FoundingHost

pytestmark = pytest.mark.cuda

# The GPUs are said where they are built for; nothing here counts them.
PROFILE = """\
schema: 1
name: founding
engine: command
command: [sh, -c, 'touch $HOME/served; exit 3']
ready: none
cuda: {{arch: ["12.0"]}}
target: {{venv: {target}}}
"""
# The control: gpulaunch with one rule that is wrong.
WRONG = """\
import sys
from launcher.consumers import torch
from launcher.model import Found
torch.predict = lambda surroundings: Found(path="/usr/local/cuda", release="12.8")
from launcher.__main__ import main
sys.exit(main())
"""
OURS = ("-m", "launcher")


def run(host: FoundingHost, *words: str, ours: tuple[str, ...] = OURS) -> Any:
    """gpulaunch on that machine, with the profile."""
    profile = host.machine.folder / "doctor.yaml"
    profile.write_text(PROFILE.format(target=host.target))
    profile.chmod(0o600)
    return host.machine.run([sys.executable, *ours, *words, "--profile", profile])


def told(host: FoundingHost, *flags: str, ours: tuple[str, ...] = OURS) -> dict[str, Any]:
    """What `doctor --json` says."""
    done = run(host, "doctor", "--json", *flags, ours=ours)
    assert done.stdout, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.fixture(scope="session")
def verified(host: FoundingHost) -> list[dict[str, Any]]:
    """Every comparison in each situation."""
    comparisons: list[dict[str, Any]] = told(host, "--verify")["verified"]
    return comparisons


# Installed whole in every target: they give an answer, where others that lack a dependency cannot be asked.
WHOLE = {"FlashInfer", "PyTorch"}


@pytest.mark.parametrize("environment", ["planned", "callers"])
def test_every_library_says_what_was_predicted(verified: list[dict[str, Any]], environment: str) -> None:
    there = [one for one in verified if one["environment"] == environment]
    assert [one for one in there if one["verdict"] == "not-as-predicted"] == []
    assert {one["consumer"] for one in there if one["verdict"] == "as-predicted"} >= WHOLE, there


def test_flashinfer_itself_shows_the_founding_fault_and_its_cure(verified: list[dict[str, Any]]) -> None:
    found = {one["environment"]: one["found"] for one in verified if one["consumer"] == "FlashInfer"}
    assert (found["callers"]["path"], found["callers"]["release"]) == ("/usr/local/cuda", "12.8")
    assert (found["callers"]["archs"], found["callers"]["errors"]) == ([], {"check": "RuntimeError"})
    assert (found["planned"]["archs"], found["planned"]["errors"]) == (["12.0f"], {})


def test_a_wrong_prediction_is_reported_with_both_values(hosts: Hosts) -> None:
    said = told(hosts(WHEEL), "--verify", ours=("-c", WRONG))
    (torch,) = (one for one in said["verified"] if one["consumer"] == "PyTorch" and one["environment"] == "planned")
    assert torch["verdict"] == "not-as-predicted"
    assert (torch["predicted"]["release"], torch["found"]["release"]) == ("12.8", "13.0")
    assert "prediction-failed" in {finding["code"] for finding in said["findings"]}
    assert said["exit_code"] == 78


def test_a_launch_asks_once_and_then_starts_at_once(hosts: Hosts) -> None:
    host = hosts(WHEEL)
    first, second = (run(host, "command") for _ in range(2))
    assert (first.returncode, second.returncode) == (3, 3), first.stderr
    (asking,) = (line for line in first.stderr.splitlines() if "asking " in line)
    assert "PyTorch" in asking and "FlashInfer" in asking
    assert "prediction-failed" not in first.stderr
    assert "asking" not in second.stderr


def test_a_launch_with_a_wrong_prediction_starts_nothing(hosts: Hosts) -> None:
    host = hosts(WHEEL)
    done = run(host, "command", ours=("-c", WRONG))
    assert done.returncode == 78
    assert "PyTorch 2.11.0 itself finds something else in the planned environment: toolkit " in done.stderr
    assert not (host.machine.home / "served").exists()
    assert run(host, "command", "--no-verify", ours=("-c", WRONG)).returncode == 3
    assert (host.machine.home / "served").exists()


@pytest.mark.parametrize("situation", [WHEEL, WHEEL_PINNED, SYSTEM], ids=lambda one: f"{one.name}-{one.flashinfer}")
def test_a_kernel_is_built_with_the_libraries_own_flags(hosts: Hosts, situation: Any) -> None:
    built = told(hosts(situation), "--build")["built"]
    assert {trial["state"] for trial in built} == {"passed"}, built
    assert any("-lcudart -lcuda" in trial["step"] for trial in built)


def test_where_every_compiler_is_hidden_none_is_tried(hosts: Hosts) -> None:
    (trial,) = told(hosts(NEITHER), "--build")["built"]
    assert trial["state"] == "not-tried"


def test_the_target_is_left_as_it_is(hosts: Hosts) -> None:
    host = hosts(WHEEL)
    before = {path: path.stat().st_mtime_ns for path in _files(host.target)}
    told(host, "--verify", "--build")
    assert {path: path.stat().st_mtime_ns for path in _files(host.target)} == before


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
