"""What starting costs: --version imports nothing, --help little, and the table of commands is true."""

from __future__ import annotations

import importlib
import subprocess
import sys

import click
import pytest

from launcher import __version__
from launcher.cli.table import COMMANDS, ENGINE_NAMES, RESERVED
from launcher.engines import ENGINES

HEAVY = ("click", "pydantic", "rich", "psutil", "yaml")
PROBE = """
import sys
sys.argv = ["gpulaunch", *{arguments!r}]
from launcher.__main__ import main
code = main()
print(*[name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""


def imported(*arguments: str) -> tuple[str, list[str]]:
    """What a command line printed, and which of the heavy packages it imported."""
    probe = PROBE.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout, done.stderr.split()


def test_version_imports_nothing_that_takes_time() -> None:
    assert imported("--version") == (f"gpulaunch {__version__}\n", [])


def test_help_imports_click_alone() -> None:
    said, packages = imported("--help")
    assert packages == ["click"]
    assert all(name in said for name in COMMANDS)


def test_no_arguments_give_five_lines_with_the_demo() -> None:
    said, packages = imported()
    assert packages == ["click"]
    assert len(said.splitlines()) == 5
    assert "gpulaunch llamacpp --profile demo" in said
    assert max(len(line) for line in said.splitlines()) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_is_there(name: str) -> None:
    module = importlib.import_module(f"launcher.cli.commands.{COMMANDS[name].module}")
    assert isinstance(module.command, click.Command)


def test_the_engines_of_the_table_are_those_that_there_are() -> None:
    assert tuple(ENGINES) == ENGINE_NAMES


def test_every_name_of_the_contract_is_taken_or_reserved() -> None:
    launch = "sglang vllm llamacpp transformers command"
    slice_ = "explain check env facts profiles schema logs stop"
    later = (
        "doctor cache toolkit clean selftest import compare ps wait restart runs attach report unit sbatch completion"
    )
    names = f"{launch} {slice_} {later}".split()
    assert sorted((*COMMANDS, *RESERVED)) == sorted(names)
