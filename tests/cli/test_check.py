"""`check` and --dry-run: every check, the command by hand, the difference, and the exit code of the launch."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from launcher.facts import document
from tests.cli.conftest import Answer, Caller
from tests.cli.machines import founding
from tests.report.test_document import KEYS

Here = Callable[..., Answer]

SGLANG = "schema: 1\nname: server\nengine: sglang\nmodel: org/model\n"


def test_check_and_a_dry_run_say_the_same(here: Here, caller: Caller, founding_machine: str) -> None:
    profile = caller.profile(SGLANG)
    checked = here("check", "--profile", profile, "--facts", founding_machine)
    assert here("sglang", "--profile", profile, "--facts", founding_machine, "--dry-run") == checked
    assert checked.code == 0
    assert checked.err == ""
    assert "Environment, compared with yours\n" in checked.out
    assert "  ~ PATH=/usr/local/cuda-13.0/bin:" in checked.out
    assert "[toolkit-replaced]" in checked.out
    assert checked.out.splitlines()[-1].startswith("Would start:")


@pytest.mark.parametrize("query", ["check", "explain", "sglang --dry-run"])
def test_json_is_one_object_with_the_contracts_keys(
    here: Here, caller: Caller, founding_machine: str, query: str
) -> None:
    answer = here(*query.split(), "--profile", caller.profile(SGLANG), "--facts", founding_machine, "--json")
    assert (answer.code, answer.err) == (0, "")
    said = json.loads(answer.out)
    assert list(said) == KEYS
    assert said["toolkit"]["root"] == said["env"]["CUDA_HOME"] == "/usr/local/cuda-13.0"


@pytest.mark.parametrize("query", ["check", "explain", "command --dry-run"])
def test_json_is_complete_also_where_the_profile_is_refused(here: Here, caller: Caller, query: str) -> None:
    answer = here(*query.split(), "--profile", caller.command_profile("colour: red\n"), "--json")
    said = json.loads(answer.out)
    assert (answer.code, answer.err) == (78, "")
    assert list(said) == KEYS
    assert (said["blocked"], said["exit_code"]) == (True, 78)
    assert said["findings"][0]["line"] == 6


def test_the_command_by_hand_runs_what_a_launch_would_run(caller: Caller) -> None:
    script = "import os, sys; print(os.getcwd(), os.environ['MINE'], sys.argv[1:])"
    profile = caller.profile(
        "schema: 1\nname: server\nengine: command\nready: none\n"
        f"command: [{sys.executable}, -c, {json.dumps(script)}]\n"
    )
    answer = caller("command", "--profile", profile, "--dry-run", "--env", "MINE=a b", "--", "--x", '{"y": 1}')
    (line,) = [line for line in answer.out.splitlines() if line.startswith("gpulaunch env --profile ")]
    assert shlex.split(line)[:3] == ["gpulaunch", "env", "--profile"]
    again = caller(*shlex.split(line)[1:])
    assert again.out == f"{caller.folder} a b ['--x', '{{\"y\": 1}}']\n"


def test_the_command_by_hand_goes_to_the_servers_working_folder(here: Here, caller: Caller) -> None:
    answer = here("check", "--profile", caller.command_profile("cwd: /usr\n"))
    assert f"\ncd /usr\ngpulaunch env --profile {caller.folder}/server.yaml -- python3 -m http.server 0\n" in answer.out


def test_the_command_by_hand_holds_no_secret(here: Here, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-value")
    profile = caller.profile(f"{SGLANG}args: {{api-key: '${{MY_KEY}}'}}\n")
    answer = here("check", "--profile", profile, "--env", "OTHER_TOKEN=s3cret-token")
    assert '--api-key "$MY_KEY"' in answer.out
    assert "--env 'OTHER_TOKEN=***'" in answer.out
    assert "s3cret" not in answer.out + answer.err


def _facts(tmp_path: Path, **changes: object) -> str:
    path = tmp_path / "facts.json"
    path.write_text(document.dump(replace(founding(), **changes)), encoding="utf-8")  # type: ignore[arg-type]
    return str(path)


def _target(**changes: object) -> object:
    return replace(founding().target, **changes)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("profile", "changes", "code"),
    [
        (SGLANG, {}, 0),
        (SGLANG, {"target": None}, 78),
        (SGLANG, {"target": _target(exists=False)}, 127),
        (SGLANG, {"target": _target(executable=False)}, 126),
        (SGLANG, {"target": _target(readable=False)}, 77),
        (f"{SGLANG}requires: {{sglang: '>=9'}}\n", {}, 78),
        (f"{SGLANG}gpus: {{count: 9}}\n", {}, 69),
        (f"{SGLANG}gpus: {{capability: '9.0'}}\n", {}, 69),
        (f"{SGLANG}gpus: {{count: 1}}\n", {"gpus": None}, 69),
        (f"{SGLANG}gpus: {{count: 9}}\nrequires: {{sglang: '>=9'}}\n", {}, 78),
        (f"{SGLANG}gpus: {{count: 9}}\n", {"target": _target(exists=False)}, 127),
    ],
    ids=["fine", "no target", "missing", "not executable", "unreadable", "requires", "fewer GPUs", "capability",
         "no driver", "requires before GPUs", "target before GPUs"],
)  # fmt: skip
def test_the_exit_code_is_the_launches(
    here: Here, caller: Caller, tmp_path: Path, profile: str, changes: dict[str, object], code: int
) -> None:
    path, facts = caller.profile(profile), _facts(tmp_path, **changes)
    assert here("check", "--profile", path, "--facts", facts).code == code
    assert here("sglang", "--profile", path, "--facts", facts, "--dry-run").code == code
    assert json.loads(here("check", "--profile", path, "--facts", facts, "--json").out)["exit_code"] == code
    assert here("explain", "--profile", path, "--facts", facts).code == 0


def test_a_taken_port_is_75_and_names_who_holds_it(caller: Caller) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        profile = caller.command_profile(port=port, ready=f'{{url: "http://127.0.0.1:{port}/"}}')
        answer = caller("check", "--profile", profile)
    assert answer.code == 75
    assert "[port-taken]" in answer.out
    assert str(os.getpid()) in answer.out


def test_with_facts_nothing_of_this_machine_is_asked(caller: Caller, tmp_path: Path) -> None:
    """The port of the plan is taken here, and that is no concern of the other machine."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        profile = caller.profile(f"{SGLANG}args: {{port: {held.getsockname()[1]}}}\n")
        assert caller("check", "--profile", profile, "--facts", _facts(tmp_path)).code == 0


def test_with_facts_the_profiles_variables_are_those_of_that_machine(
    here: Here, caller: Caller, tmp_path: Path
) -> None:
    path = tmp_path / "facts.json"
    path.write_text(document.dump(founding(MODEL="org/theirs")), encoding="utf-8")
    profile = caller.profile(SGLANG.replace("org/model", "${MODEL}"))
    answer = here("check", "--profile", profile, "--facts", str(path), "--json")
    assert "org/theirs" in json.loads(answer.out)["argv"]


def test_the_same_facts_and_profile_give_the_same_bytes(caller: Caller, founding_machine: str) -> None:
    profile = caller.profile(SGLANG)
    arguments = ("check", "--profile", profile, "--facts", founding_machine, "--json")
    other = {**caller.environ, "HOME": "/elsewhere", "HF_TOKEN": "x" * 20, "CUDA_HOME": "/nowhere", "LANG": "C"}
    assert caller(*arguments).out == caller(*arguments, env=other).out
