"""`gpulaunch selftest`: what it claims holds here, would be seen if it did not, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from launcher.selftest import launches, machine
from launcher.selftest.running import tried
from launcher.supervise import cgroup, port, run_mark
from tests.helpers import eventually
from tests.launching import without_cgroups
from tests.survivors import Corral

ROOT = Path(__file__).parents[2]
PLAIN = Path(__file__).with_name("plain_launcher.py")
LAUNCHES = {"stop", "stubborn-worker", "hidden-worker", "launcher-killed", "log", "secret"}


@pytest.fixture
def corral() -> Iterator[Corral]:
    with Corral() as opened:
        yield opened


def selftest(corral: Corral, home: Path, *options: str, before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    """It runs, with an empty home and a folder for temporary files in it."""
    (home / "tmp").mkdir(parents=True)
    environ = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    words = [*before, sys.executable, "-m", "launcher", "selftest", *options]
    return corral.spawn(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, cwd=home)


def below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("cgroups", [True, False], ids=["any way", "without cgroups"])
def test_nothing_fails_here_and_nothing_is_left(corral: Corral, tmp_path: Path, cgroups: bool) -> None:
    running = selftest(corral, tmp_path / "home", "--json", before=() if cgroups else without_cgroups())
    out, err = running.communicate(timeout=90)
    document = json.loads(out)
    states = {claim["name"]: claim["state"] for claim in document["claims"]}
    assert (running.returncode, document["exit_code"], err) == (0, 0, b""), document
    assert states.keys() >= LAUNCHES | {"cgroup", "mark", "gpus", "port-holder", "nothing-left"}
    assert {states[name] for name in LAUNCHES} == {"ok"}
    assert cgroups or states["cgroup"] == "not here"
    assert all(claim["because"] for claim in document["claims"])
    assert corral.survivors() == []
    assert below(tmp_path / "home") == {"tmp"}


def test_ctrl_c_in_the_middle_leaves_nothing(corral: Corral, tmp_path: Path) -> None:
    running = selftest(corral, tmp_path / "home")
    eventually(lambda: len(corral.survivors()) > 6, within=30, what="some launches run")
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 130
    assert corral.survivors() == []
    assert below(tmp_path / "home") == {"tmp"}


def test_it_finds_a_plain_supervisor_wanting(corral: Corral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: with another launcher in our place every claim about launches fails."""
    monkeypatch.setattr(launches, "GUARD", 1.0)

    def plain(folder: Path, profile: Path) -> Sequence[str]:
        return (sys.executable, str(PLAIN), str(folder), str(profile))

    told = {claim.name: tried(claim).told for claim in launches.claims(tmp_path, plain)}
    assert {name: it.state for name, it in told.items()} == dict.fromkeys(LAUNCHES, "failed")
    assert "still alive" in told["stubborn-worker"].because
    assert "before nothing was left" in told["launcher-killed"].because
    assert "has it" in told["secret"].because


def test_a_launch_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    def broken(folder: Path, profile: Path) -> Sequence[str]:
        return ("sh", "-c", "echo gpulaunch: no such thing >&2; exit 78")

    (claim, *_) = launches.claims(tmp_path, broken)
    told = tried(claim).told
    assert (told.state, told.because) == ("failed", "gpulaunch ended before readiness: no such thing")


@pytest.mark.parametrize(
    ("name", "broken", "state"),
    [
        ("mark", (run_mark, "bearers", lambda run_id: []), "failed"),
        ("mark", (run_mark, "put", lambda run_id: None), "not here"),
        ("port-holder", (port, "holders", lambda number: ()), "failed"),
        ("cgroup", (cgroup, "hindrance", lambda: "no cgroup v2 hierarchy is mounted"), "not here"),
    ],
)
def test_a_claim_about_the_machine_can_fail(
    monkeypatch: pytest.MonkeyPatch, name: str, broken: tuple[Any, str, Any], state: str
) -> None:
    monkeypatch.setattr(*broken)
    (claim,) = (claim for claim in machine.claims() if claim.name == name)
    assert tried(claim).told.state == state
