"""A launch asks the libraries in the target once for each changed environment; what they contradict is not started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from launcher.facts.target import read_python
from launcher.verify import verify_once
from tests.builders import asked, facts, plan
from tests.cli.conftest import Caller
from tests.doctor.targets import HANGS, PROBED, RIGHT, STALE, FakeTarget, a_target
from tests.helpers import eventually
from tests.launching import Launch
from tests.survivors import Corral


@pytest.fixture
def target(tmp_path: Path) -> FakeTarget:
    return a_target(tmp_path / "target")


def outcome(caller: Caller) -> dict[str, Any]:
    """How the latest run ended."""
    runs = Path(caller.environ["HOME"], ".local/state/gpulaunch/runs/server/latest/outcome.json")
    said: dict[str, Any] = json.loads(runs.read_text())
    return said


def verdicts(caller: Caller) -> list[Path]:
    """The verdicts that are kept."""
    return sorted(Path(caller.environ["HOME"], ".cache/gpulaunch").glob("verdicts/*"))


def test_the_first_launch_asks_and_the_second_does_not(caller: Caller, target: FakeTarget) -> None:
    profile = caller.profile(target.profile())
    first = caller("command", "--profile", profile)
    assert first.code == 3, first.err
    assert "asking PyTorch, FlashInfer in the target which toolkit they find" in first.err
    assert target.asked == PROBED
    assert caller("command", "--profile", profile).code == 3
    assert target.asked == PROBED


def test_a_changed_environment_is_asked_anew(caller: Caller, target: FakeTarget) -> None:
    profile = caller.profile(target.profile())
    caller("command", "--profile", profile)
    caller("command", "--profile", profile, "--env", "NVCC_APPEND_FLAGS=-lineinfo")
    assert target.asked == sorted(PROBED * 2)
    assert len(verdicts(caller)) == 2


def test_a_changed_target_is_asked_anew(caller: Caller, target: FakeTarget) -> None:
    profile = caller.profile(target.profile())
    caller("command", "--profile", profile)
    (target.folder / "lib/python3.11/site-packages/requests-2.32.5.dist-info").mkdir()
    caller("command", "--profile", profile)
    assert target.asked == sorted(PROBED * 2)


def test_another_terminal_and_another_secret_are_no_change(caller: Caller, target: FakeTarget) -> None:
    profile = caller.profile(target.profile(more='env: {set: {MY_TOKEN: "${MY_TOKEN}"}}\n'))
    for terminal, secret in (("xterm", "short"), ("dumb", "s3cret-value")):
        env = {**caller.environ, "TERM": terminal, "MY_TOKEN": secret}
        assert caller("command", "--profile", profile, env=env).code == 3
    assert target.asked == PROBED


def test_a_verdict_is_private(caller: Caller, target: FakeTarget) -> None:
    caller("command", "--profile", caller.profile(target.profile()))
    (verdict,) = verdicts(caller)
    assert verdict.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("flags", [("--no-verify",), ("--dry-run",)])
def test_without_verification_the_target_is_not_run(caller: Caller, target: FakeTarget, flags: tuple[str, ...]) -> None:
    caller("command", "--profile", caller.profile(target.profile()), *flags)
    assert target.asked == []


@pytest.mark.parametrize("flags", [(), ("--exec",)], ids=["supervised", "exec"])
def test_what_a_library_contradicts_is_not_started(caller: Caller, target: FakeTarget, flags: tuple[str, ...]) -> None:
    target.answers(STALE + RIGHT)
    answer = caller("command", "--profile", caller.profile(target.profile("touch ran")), *flags)
    assert answer.code == 78
    assert "FlashInfer 0.6.8 itself finds something else in the planned environment" in answer.err
    assert "toolkit /usr/local/cuda where" in answer.err
    assert "release 12.8 where 13.0 was predicted" in answer.err
    assert "[prediction-failed]" in answer.err
    assert not (caller.folder / "ran").exists()
    assert (outcome(caller)["exit_code"], outcome(caller)["child"]) == (78, "not started")


def test_whoever_mended_it_is_asked_anew(caller: Caller, target: FakeTarget) -> None:
    profile = caller.profile(target.profile())
    target.answers(STALE + RIGHT)
    for _ in range(2):
        assert caller("command", "--profile", profile).code == 78
    target.answers(RIGHT)
    assert caller("command", "--profile", profile).code == 3


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'ImportError: libcublas.so.13' >&2; exit 1\n", "it ended with 1: ImportError: libcublas.so.13"),
        ("kill -SEGV $$\n", "it was killed by signal 11"),
        ("echo hello\n", "its last line is no answer"),
        ("", "it printed nothing"),
    ],
    ids=["raises", "crashes", "babbles", "is silent"],
)
def test_a_library_that_gives_no_answer_is_a_warning(caller: Caller, target: FakeTarget, script: str, why: str) -> None:
    target.answers(script)
    profile = caller.profile(target.profile())
    said = f"warning: Could not tell what FlashInfer 0.6.8 itself finds: {why}. [prediction-unverified]"
    for _ in range(2):  # it is said again, and not asked again
        answer = caller("command", "--profile", profile)
        assert answer.code == 3
        assert said in answer.err
    assert target.asked == PROBED


def test_what_a_library_says_shows_no_secret(caller: Caller, target: FakeTarget) -> None:
    target.answers('echo "ValueError: $MY_TOKEN" >&2; exit 1\n')
    profile = caller.profile(target.profile(more="env: {pass: [MY_TOKEN]}\n"))
    answer = caller("command", "--profile", profile, env={**caller.environ, "MY_TOKEN": "s3cret-value"})
    assert "ValueError: ***" in answer.err
    assert "s3cret-value" not in answer.err
    assert not any("s3cret-value" in path.read_text() for path in verdicts(caller))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"as_predicted": 5, "could_not_tell": 6}', "\\udc80"])
def test_a_verdict_that_cannot_be_read_is_none(caller: Caller, target: FakeTarget, content: str) -> None:
    profile = caller.profile(target.profile())
    caller("command", "--profile", profile)
    verdicts(caller)[0].write_text(content)
    assert caller("command", "--profile", profile).code == 3
    assert target.asked == sorted(PROBED * 2)


def test_one_library_that_is_right_is_not_asked_again_because_of_another(caller: Caller, target: FakeTarget) -> None:
    """What was mended lies beyond everything that we look at."""
    mended = caller.folder / "mended"
    target.answers(f"if [ ! -e {mended} ]; then\n{STALE}fi\n{RIGHT}")
    profile = caller.profile(target.profile())
    assert caller("command", "--profile", profile).code == 78
    mended.touch()
    assert "asking FlashInfer in the target" in caller("command", "--profile", profile).err
    assert "asking" not in caller("command", "--profile", profile).err


def test_what_took_too_long_is_asked_again(tmp_path: Path, target: FakeTarget) -> None:
    target.answers(HANGS)
    here = facts(target=read_python(target.python, "--target"))
    made = plan(asked(cuda={"toolkit": "hide"}, cwd=str(tmp_path)), here)
    said: list[str] = []
    for number in (1, 2):
        comparisons = verify_once(made, here, str(tmp_path / "cache"), said.append, patience=0.2)
        assert {comparison.because for comparison in comparisons} == {"no answer within 0.2 s"}
        assert len(said) == number


def test_a_target_that_holds_no_consumer_is_not_run(caller: Caller, tmp_path: Path) -> None:
    target = a_target(tmp_path / "other", packages={"requests": "2.32.5"})
    answer = caller("command", "--profile", caller.profile(target.profile()))
    assert answer.code == 3
    assert target.asked == []
    assert "asking" not in answer.err


def test_quiet_says_nothing_of_it(caller: Caller, target: FakeTarget) -> None:
    assert "asking" not in caller("command", "-q", "--profile", caller.profile(target.profile())).err


def hanging(corral: Corral, folder: Path) -> tuple[Launch, list[Path]]:
    """A launch whose probes have begun and do not answer."""
    target = a_target(folder / "target", script=HANGS)
    launch = Launch(corral, folder)
    (folder / "test.yaml").write_text(target.profile())
    (folder / "test.yaml").chmod(0o600)
    with (folder / "stderr").open("wb") as err:
        launch.process = corral.spawn(
            launch.command(),
            stdout=err,
            stderr=err,
            stdin=subprocess.DEVNULL,
            env={**launch.environ, "TMPDIR": str(folder)},
        )
    return launch, eventually(lambda: list((folder / "target/bin").glob("python.hangs.*")), what="a probe runs")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)]
)
def test_a_signal_while_it_asks_ends_it_and_leaves_no_probe(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with Corral() as corral:
        launch, _ = hanging(corral, tmp_path)
        assert launch.signal(number).wait() == code
        assert corral.survivors() == []
    ended = json.loads((tmp_path / "state/gpulaunch/runs/server/latest/outcome.json").read_text())
    assert (ended["exit_code"], ended["child"], ended["requested"]) == (code, "not started", True)


def test_if_gpulaunch_is_killed_while_it_asks_its_probes_end_too(tmp_path: Path) -> None:
    with Corral() as corral:
        launch, begun = hanging(corral, tmp_path)
        pids = [int(path.suffix[1:]) for path in begun]
        assert launch.signal(signal.SIGKILL).wait() == 137
        eventually(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in pids), what="the probes are gone")


def test_r003_last_words_that_blame_the_card_are_led_back_to_the_toolkit(caller: Caller, target: FakeTarget) -> None:
    """R003 flashinfer-ai/flashinfer#3675: for days people looked at their cards."""
    said = "echo 'RuntimeError: FlashInfer requires GPUs with sm75 or higher' >&2; exit 1"
    answer = caller("command", "--profile", caller.profile(target.profile(said)))
    assert "the GPUs are not to blame: FlashInfer 0.6.8 found no architecture" in " ".join(answer.err.split())
    assert "gpulaunch: fix: gpulaunch doctor --verify" in answer.err
    other = caller("command", "--profile", caller.profile(target.profile("echo other; exit 1")))
    assert "not to blame" not in other.err and "gpulaunch: fix:" not in other.err
