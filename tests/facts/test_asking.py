"""Asking a program: bounded in time and size, and nothing is left of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from launcher.facts import asking
from launcher.facts.asking import ask
from tests.facts import trees
from tests.helpers import eventually


def test_what_it_prints_and_how_it_ends(tmp_path: Path) -> None:
    said = ask([str(trees.script(tmp_path / "tool", "echo out; echo err >&2; exit 3"))])
    assert (said.code, said.text, said.error) == (3, "out\nerr\n", None)
    assert ask([str(tmp_path / "tool")], with_errors=False).text == "out\n"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda path: None, FileNotFoundError),
        (lambda path: path.mkdir(), PermissionError),
        (lambda path: path.write_text("#!/bin/sh\n"), PermissionError),
        (lambda path: (path.write_text("no program\n"), path.chmod(0o755)), OSError),
    ],
)
def test_what_cannot_be_started_says_why(tmp_path: Path, make: object, error: type[OSError]) -> None:
    assert callable(make)
    make(tmp_path / "tool")
    said = ask([str(tmp_path / "tool")])
    assert said.code is None
    assert isinstance(said.error, error)


def test_one_that_prints_without_end_is_ended(tmp_path: Path) -> None:
    said = ask([str(trees.script(tmp_path / "tool", "exec yes"))])
    assert said.code is None
    assert 1 << 20 <= len(said.text) < 1 << 21


def test_one_that_does_not_answer_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.5)
    pids = tmp_path / "pids"
    said = ask([str(trees.script(tmp_path / "tool", f"sleep 999 & echo $! > {pids}; wait"))])
    assert said.code is None
    child = int(pids.read_text())
    eventually(lambda: not _lives(child))


def test_one_that_ends_is_not_waited_for_by_what_it_left_in_the_background(tmp_path: Path) -> None:
    said = ask([str(trees.script(tmp_path / "tool", "echo release; sleep 999 &"))])
    assert (said.code, said.text) == (0, "release\n")


def _lives(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
