"""`gpulaunch explain`: always an answer, always the whole story, and nothing written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from launcher.explanations import CATALOGUE
from tests.cli.conftest import Answer, Caller

Here = Callable[..., Answer]

# Every way in which Python code can change a disk, as the interpreter's own audit events tell it.
WATCHED = """
import os, sys
changed = []
def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC) and str(path) != os.devnull:
            changed.append(f"open {path}")
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown",
                   "os.truncate", "os.utime", "os.setxattr", "shutil.copyfile", "tempfile.mkstemp", "tempfile.mkdtemp"):
        changed.append(f"{event} {arguments}")
sys.addaudithook(watch)
from launcher.cli.entry import run
code = run(sys.argv[1:])
for change in changed:
    print("CHANGED", change)
sys.exit(code)
"""

READING = [
    "explain --profile kimi-k26-dflash",
    "explain --profile kimi-k26-dflash --json",
    "check --profile kimi-k26-dflash",
    "sglang --profile kimi-k26-dflash --dry-run",
    "llamacpp --profile demo --dry-run",
    "env --profile kimi-k26-dflash",
    "facts --profile kimi-k26-dflash --json",
    "facts",
    "profiles list",
    "profiles show demo",
    "schema",
    "logs",
]


def test_on_a_bare_machine_with_an_empty_environment_it_tells_the_whole_story(caller: Caller) -> None:
    answer = caller("explain", "--profile", "kimi-k26-dflash", env={})
    assert (answer.code, answer.err) == (0, "")
    for part in (
        "CUDA toolkit: ",
        "PATH, in this order",
        "Environment: ",
        "Command\n",
        "Findings\n",
        "Could not tell\n",
    ):
        assert part in answer.out
    assert "--speculative-algorithm DFLASH" in answer.out
    assert "[no-target]" in answer.out
    assert "Would not start: " in answer.out.splitlines()[-1]


def test_what_could_not_be_told_is_one_sentence_each(caller: Caller) -> None:
    answer = caller("explain", "--profile", "kimi-k26-dflash", env={})
    section = answer.out.partition("Could not tell\n")[2].partition("\n\n")[0].splitlines()
    assert section
    assert all(line.startswith("  note: ") and line.endswith("]") for line in section)


@pytest.mark.parametrize("line", READING)
def test_reading_commands_write_nothing(caller: Caller, line: str) -> None:
    command = [sys.executable, "-c", WATCHED, *line.split()]
    before = sorted(Path(caller.environ["HOME"]).rglob("*"))
    done = subprocess.run(
        command, env=dict(caller.environ), cwd=caller.folder, capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in done.stderr
    assert "CHANGED" not in done.stdout
    assert sorted(Path(caller.environ["HOME"]).rglob("*")) == before == []
    assert list(caller.folder.iterdir()) == []


def test_the_watch_sees_a_command_that_writes(caller: Caller) -> None:
    command = [sys.executable, "-c", WATCHED, "profiles", "copy", "demo"]
    done = subprocess.run(
        command, env=dict(caller.environ), cwd=caller.folder, capture_output=True, text=True, timeout=60
    )
    assert "CHANGED open" in done.stdout


def test_the_description_of_the_profile_stands_at_the_head(here: Here) -> None:
    assert "Kimi K2.6 with a DFlash draft model" in here("explain", "--profile", "kimi-k26-dflash").out.splitlines()[1]


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_is_explained(here: Here, code: str) -> None:
    answer = here("explain", code)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0] == code
    assert [line.split()[0] for line in lines[1:]] == ["cause:", "evidence:", "fix:", "exit:"]
