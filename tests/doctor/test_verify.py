"""`doctor --verify` asks each library under the planned environment and the caller's, and tells both values."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Answer, Caller
from tests.doctor.targets import PROBED, RIGHT, STALE, FakeTarget, a_target
from tests.helpers import eventually
from tests.survivors import Corral

TITLE = "Verified: each library's own lookup, run in the target"
# In the caller's environment CUDA_HOME is what these tests say; FlashInfer's release there is torch's own.
NOWHERE = {"CUDA_HOME": "/nowhere", "FLASHINFER_CUDA_ARCH_LIST": "12.0f"}


@pytest.fixture
def target(tmp_path: Path) -> FakeTarget:
    return a_target(tmp_path / "target")


def verified(caller: Caller, target: FakeTarget, *more: str, **environ: str) -> Answer:
    """`doctor --verify` by a caller who has these variables."""
    words = ("doctor", "--verify", "--profile", caller.profile(target.profile()), *more)
    return caller(*words, env={**caller.environ, **NOWHERE, **environ})


def lines(answer: Answer) -> list[str]:
    """The section about it."""
    (section,) = (part for part in answer.out.split("\n\n") if part.startswith(TITLE))
    return section.splitlines()[1:]


def test_every_library_is_asked_in_both_environments(caller: Caller, target: FakeTarget) -> None:
    answer = verified(caller, target)
    assert answer.code == 0, answer.out
    assert target.asked == sorted(PROBED * 2)
    said = lines(answer)
    assert [line.strip().partition(":")[0].split() for line in said] == [
        ["+", "PyTorch", "2.11.0", "planned", "as", "predicted"],
        ["+", "PyTorch", "2.11.0", "yours", "as", "predicted"],
        ["+", "FlashInfer", "0.6.8", "planned", "as", "predicted"],
        ["+", "FlashInfer", "0.6.8", "yours", "as", "predicted"],
    ]
    assert said[1].endswith(": /nowhere: CUDA 13.0")
    assert "/toolkits/hidden: CUDA 13.0, 12.0f" in said[2]


def test_a_deviation_in_the_planned_environment_is_an_error_with_both_values(
    caller: Caller, target: FakeTarget
) -> None:
    target.answers(STALE + RIGHT)
    answer = verified(caller, target)
    assert answer.code == 78
    (line,) = (line for line in lines(answer) if "FlashInfer" in line and "planned" in line)
    assert "- FlashInfer 0.6.8  planned  not as predicted: predicted " in line
    assert line.endswith("found /usr/local/cuda: CUDA 12.8, no architecture, and its check raises RuntimeError")
    assert "[prediction-failed]" in answer.out


def test_a_deviation_in_the_callers_environment_is_told_and_no_error(caller: Caller, target: FakeTarget) -> None:
    target.answers('case "$CUDA_HOME" in /nowhere) CUDA_HOME=/elsewhere;; esac\n' + RIGHT)
    answer = verified(caller, target)
    assert answer.code == 0
    assert [line.split()[0] for line in lines(answer)] == ["+", "-", "+", "-"]
    assert "[prediction-failed]" not in answer.out


def test_json_has_every_comparison(caller: Caller, target: FakeTarget) -> None:
    target.answers(STALE + RIGHT)
    answer = verified(caller, target, "--json")
    said = json.loads(answer.out)["verified"]
    assert [(one["consumer"], one["environment"], one["verdict"]) for one in said] == [
        ("PyTorch", "planned", "as-predicted"),
        ("PyTorch", "callers", "as-predicted"),
        ("FlashInfer", "planned", "not-as-predicted"),
        ("FlashInfer", "callers", "not-as-predicted"),
    ]
    assert said[2]["found"]["release"] == "12.8"
    assert said[2]["predicted"]["release"] == "13.0"


def test_without_consumers_nothing_is_run(caller: Caller, tmp_path: Path) -> None:
    target = a_target(tmp_path / "other", packages={"requests": "2.32.5"})
    assert lines(verified(caller, target)) == ["  the target holds no library that can be asked"]
    assert target.asked == []


def test_without_verify_nothing_is_run(caller: Caller, target: FakeTarget) -> None:
    assert caller("doctor", "--profile", caller.profile(target.profile())).code == 0
    assert target.asked == []


def test_the_probes_of_the_callers_environment_write_into_no_cache_of_theirs(
    caller: Caller, target: FakeTarget
) -> None:
    target.answers('mkdir -p "$FLASHINFER_WORKSPACE_BASE/.cache/flashinfer"\n' + RIGHT)
    theirs = caller.folder / "theirs"
    verified(caller, target, FLASHINFER_WORKSPACE_BASE=str(theirs))
    assert not theirs.exists()
    assert not Path(caller.environ["HOME"], ".cache/flashinfer").exists()


def test_another_machine_cannot_be_asked(caller: Caller, founding_machine: str, target: FakeTarget) -> None:
    profile = caller.profile(target.profile())
    for flag in ("--verify", "--build"):
        answer = caller("doctor", "--profile", profile, "--facts", founding_machine, flag)
        assert answer.code == 2
        assert "--facts describes another machine" in answer.err


def test_a_query_that_is_cut_short_is_no_answer_and_leaves_no_probe(caller: Caller, target: FakeTarget) -> None:
    target.answers(f"touch {caller.folder}/begun\nexec tail -f /dev/null\n")
    words = [sys.executable, "-m", "launcher", "doctor", "--verify", "--profile", caller.profile(target.profile())]
    with Corral() as corral:
        process = corral.spawn(
            words, env=dict(caller.environ), cwd=caller.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        eventually((caller.folder / "begun").exists, what="a probe runs")
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
        assert corral.survivors() == []


def test_a_target_that_cannot_be_run_is_told(caller: Caller, target: FakeTarget) -> None:
    target.python.write_text("#!/nowhere/python\n")
    assert all("cannot be run: No such file or directory" in line for line in lines(verified(caller, target)))


def test_where_nothing_can_be_written_nothing_is_told(caller: Caller, target: FakeTarget) -> None:
    (caller.folder / "file").touch()
    code = "import tempfile; tempfile.tempdir = 'file/none'; from launcher.__main__ import main; main()"
    words = ["doctor", "--verify", "--build", "--profile", caller.profile(target.profile())]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=dict(caller.environ),
        cwd=caller.folder,
        capture_output=True,
        text=True,
    )
    assert "it could not be asked: Not a directory" in done.stdout, done.stderr
    assert "Traceback" not in done.stderr


def test_where_the_plans_folders_cannot_be_made_the_report_is_whole_and_says_so(
    caller: Caller, target: FakeTarget
) -> None:
    (caller.folder.parent / "home/.cache").touch()
    answer = verified(caller, target)
    assert answer.code == 78
    assert "6. What could not be told" in answer.out
    assert "[prepare-failed]" in answer.out
    assert target.asked == []
