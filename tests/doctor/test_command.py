"""`gpulaunch doctor` on a command line: text or one object, a launch's exit code, and nothing is changed or run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from launcher.facts import document
from tests.builders import facts
from tests.cli.conftest import Answer, Caller
from tests.cli.machines import founding

Here = Callable[..., Answer]
SGLANG = "schema: 1\nname: server\nengine: sglang\nmodel: org/model\n"


def test_it_tells_and_ends_with_the_code_of_a_launch(here: Here, caller: Caller, founding_machine: str) -> None:
    answer = here("doctor", "--profile", caller.profile(SGLANG), "--facts", founding_machine)
    assert (answer.code, answer.err) == (0, "")
    assert "\n1. What your environment leads the libraries to\n" in answer.out
    assert answer.out.splitlines()[-1].startswith("Would start:")


def test_a_blocked_launch_is_its_exit_code(here: Here, caller: Caller, tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.write_text(document.dump(replace(founding(), gpus=())), encoding="utf-8")
    profile = caller.profile(f"{SGLANG}gpus: {{count: 8}}\n")
    answer = here("doctor", "--profile", profile, "--facts", str(path))
    assert answer.code == here("check", "--profile", profile, "--facts", str(path)).code == 69
    assert "Would not start:" in answer.out


def test_json_is_one_object(here: Here, caller: Caller, founding_machine: str) -> None:
    answer = here("doctor", "--profile", caller.profile(SGLANG), "--facts", founding_machine, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out)["schema_version"] == 1


def test_json_is_complete_also_where_the_profile_is_refused(here: Here, caller: Caller) -> None:
    answer = here("doctor", "--profile", caller.command_profile("colour: red\n"), "--json")
    assert (answer.code, answer.err) == (78, "")
    assert json.loads(answer.out)["exit_code"] == 78


def test_it_leaves_nothing(caller: Caller) -> None:
    assert caller("doctor", "--profile", caller.command_profile()).code == 0
    assert list(Path(caller.environ["HOME"]).iterdir()) == []


def test_a_dry_run_says_in_a_few_lines_what_the_libraries_will_find(here: Here, caller: Caller, tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.write_text(document.dump(facts()), encoding="utf-8")
    said = here("check", "--profile", caller.profile(SGLANG), "--facts", str(path)).out
    assert "\nWhat the libraries will find\n" in said
    assert "    in yours: /usr/local/cuda: CUDA 12.8, no architecture" in said


@pytest.mark.parametrize("wrong", [("--profile",), (), ("--profile", "p", "--colour")])
def test_usage(here: Here, wrong: tuple[str, ...]) -> None:
    assert here("doctor", *wrong).code == 2
