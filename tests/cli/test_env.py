"""`gpulaunch env`: the environment as text, and commands of the operator's inside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Caller

SECRET = 'env: {set: {SERVICE_TOKEN: "${CALLERS_TOKEN}", PLAIN: "it\'s ${HOME}"}}\n'


@pytest.fixture
def with_secret(caller: Caller) -> Caller:
    return Caller(caller.folder, {**caller.environ, "CALLERS_TOKEN": "s3cret-value", "LEFTOVER": "x"})


def test_the_shells_form_gives_a_shell_the_servers_environment(with_secret: Caller) -> None:
    profile = with_secret.command_profile(SECRET)
    shell = with_secret("env", "--profile", profile, "--with-secrets").out
    script = f"{shell}\nexec {sys.executable} -c 'import os, json; print(json.dumps(dict(os.environ)))'"
    said = subprocess.run(["bash", "-c", script], env={}, capture_output=True, text=True, check=True).stdout
    inside = with_secret(
        "env", "--profile", profile, "--", sys.executable, "-c", "import os, json; print(json.dumps(dict(os.environ)))"
    )
    got = {name: value for name, value in json.loads(said).items() if name not in ("_", "SHLVL", "PWD", "OLDPWD")}
    assert got == json.loads(inside.out)
    assert got["SERVICE_TOKEN"] == "s3cret-value"
    assert "LEFTOVER" not in got


def test_secrets_are_left_out_and_named(with_secret: Caller) -> None:
    answer = with_secret("env", "--profile", with_secret.command_profile(SECRET))
    assert answer.code == 0
    assert "export PLAIN='it'\"'\"'s " in answer.out
    assert "SERVICE_TOKEN" not in answer.out
    assert "left out, as they are secret: SERVICE_TOKEN" in answer.err
    assert "s3cret-value" not in answer.out + answer.err


def test_json_shows_stars(with_secret: Caller) -> None:
    answer = with_secret("env", "--profile", with_secret.command_profile(SECRET), "--format", "json")
    assert json.loads(answer.out)["SERVICE_TOKEN"] == "***"


def test_the_command_gets_the_real_secrets_and_the_callers_folder_and_streams(with_secret: Caller) -> None:
    profile = with_secret.command_profile(f"{SECRET}cwd: /tmp\n")
    script = 'read line; echo "$line $SERVICE_TOKEN $PWD"; echo on stderr >&2'
    answer = with_secret("env", "--profile", profile, "--", "sh", "-c", script, input=b"said\n")
    assert answer.out == f"said s3cret-value {with_secret.folder}\n"
    assert answer.err.endswith("on stderr\n")


def test_the_command_replaces_us(caller: Caller) -> None:
    command = [
        sys.executable,
        "-m",
        "launcher",
        "env",
        "--profile",
        caller.command_profile(),
        "--",
        "sh",
        "-c",
        "echo $$",
    ]
    with subprocess.Popen(
        command, env=dict(caller.environ), cwd=caller.folder, stdout=subprocess.PIPE, text=True
    ) as process:
        said, _ = process.communicate(timeout=60)
    assert int(said) == process.pid


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("exit 0", 0), ("kill -9 $$", -9)])
def test_the_exit_code_is_the_commands(caller: Caller, script: str, code: int) -> None:
    assert caller("env", "--profile", caller.command_profile(), "--", "sh", "-c", script).code == code


def test_the_command_is_looked_up_on_the_planned_path_not_the_callers(caller: Caller) -> None:
    tools = caller.folder / "tools"
    tools.mkdir()
    (tools / "mytool").write_text("#!/bin/sh\necho here\n")
    (tools / "mytool").chmod(0o755)
    env = {**caller.environ, "PATH": f"{tools}:/usr/bin:/bin"}
    missing = caller("env", "--profile", caller.command_profile(), "--", "mytool", env=env)
    assert missing.code == 127
    assert "Not run: there is no mytool on the planned PATH (" in missing.err
    found = caller("env", "--profile", caller.command_profile(f"env: {{path: [{tools}]}}\n"), "--", "mytool", env=env)
    assert (found.code, found.out) == (0, "here\n")


@pytest.mark.parametrize(
    ("content", "mode", "code", "sentence"),
    [
        (None, 0o755, 127, "there is no ./tool"),
        ("#!/nowhere/sh\n", 0o755, 127, "the interpreter in the first line of ./tool is missing"),
        ("no program", 0o755, 126, "./tool: Exec format error"),
        ("#!/bin/sh\n", 0o644, 126, "./tool: Permission denied"),
    ],
)
def test_a_command_that_cannot_run_has_env1s_codes(
    caller: Caller, content: str | None, mode: int, code: int, sentence: str
) -> None:
    if content is not None:
        (caller.folder / "tool").write_text(content)
        (caller.folder / "tool").chmod(mode)
    answer = caller("env", "--profile", caller.command_profile(), "--", "./tool")
    assert answer.code == code
    assert f"Not run: {sentence}" in answer.err


def test_it_runs_where_a_launch_would_be_blocked_and_says_why(caller: Caller) -> None:
    profile = caller.command_profile("target: {venv: /nowhere}\n")
    assert caller("check", "--profile", profile).code == 127
    answer = caller("env", "--profile", profile, "--", "echo", "looked")
    assert (answer.code, answer.out) == (0, "looked\n")
    assert "gpulaunch: error: " in answer.err
    assert "[target-missing]" in answer.err


def test_it_does_not_run_with_an_invalid_profile(caller: Caller) -> None:
    answer = caller("env", "--profile", caller.command_profile("colour: red\n"), "--", "touch", "ran")
    assert answer.code == 78
    assert not (caller.folder / "ran").exists()


def test_the_steps_are_carried_out_first(caller: Caller) -> None:
    """A folder that holds a foreign nvcc stands on PATH through links; they must be there when the command runs."""
    tools = caller.folder / "tools"
    tools.mkdir()
    for name in ("nvcc", "mytool"):
        (tools / name).write_text("#!/bin/sh\necho $0\n")
        (tools / name).chmod(0o755)
    answer = caller("env", "--profile", caller.command_profile(f"env: {{path: [{tools}]}}\n"), "--", "mytool")
    assert answer.code == 0
    assert answer.out.startswith(caller.environ["HOME"])
    assert not (Path(answer.out.strip()).parent / "nvcc").exists()


def test_what_python_ignores_for_itself_the_command_does_not_inherit(caller: Caller) -> None:
    show = ("grep", "SigIgn", "/proc/self/status")
    plain = subprocess.run(show, capture_output=True, text=True, check=True, restore_signals=True).stdout
    assert caller("env", "--profile", caller.command_profile(), "--", *show).out == plain


def test_printing_and_running_agree_on_path(caller: Caller) -> None:
    profile = caller.command_profile()
    printed = json.loads(caller("env", "--profile", profile, "--format", "json").out)["PATH"]
    assert caller("env", "--profile", profile, "--", "printenv", "PATH").out.strip() == printed
    assert all(os.path.isabs(entry) for entry in printed.split(":"))


def test_the_masked_environment_of_another_machine_can_be_printed(caller: Caller, founding_machine: str) -> None:
    profile = caller.profile("schema: 1\nname: server\nengine: sglang\nmodel: org/model\n")
    answer = caller("env", "--profile", profile, "--facts", founding_machine, "--format", "json")
    assert json.loads(answer.out)["CUDA_HOME"] == "/usr/local/cuda-13.0"
