"""Folders that variables name and that cannot be reached: an operator's surroundings, never a bug of ours."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Caller

# The system refuses to look (ENAMETOOLONG), for root too: as it does below another user's private folder.
UNREACHABLE = "/" + "x" * 5000


@pytest.mark.parametrize(
    "variable",
    ["HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "CUDA_HOME", "LD_LIBRARY_PATH"],
)
@pytest.mark.parametrize("command", ["toolkit list", "cache ls", "facts --json", "command --dry-run", "clean", "stop"])
def test_it_is_planned_around(caller: Caller, command: str, variable: str) -> None:
    profile = ["--profile", caller.command_profile()] if "dry-run" in command else []
    answer = caller(*command.split(), *profile, env={**caller.environ, variable: UNREACHABLE})
    assert "bug of gpulaunch" not in answer.err
    assert answer.code in (0, 78), answer.err


def test_an_entry_of_path_is_planned_around(caller: Caller) -> None:
    path = f"{UNREACHABLE}:{caller.environ['PATH']}"
    answer = caller("command", "--dry-run", "--profile", caller.command_profile(), env={**caller.environ, "PATH": path})
    assert answer.code == 0, answer.err
