"""A dry run says what a launch would say of a program or folder that cannot be used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from launcher.supervise.startable import start_findings
from tests.builders import asked, facts, plan


def said(program: Path, cwd: Path) -> list[tuple[str, int]]:
    """Codes and exit codes for a command by path in a working folder."""
    made = plan(asked(engine="command", command=[str(program)], ready="none", model=None, args={}, gpus={}), facts())
    return [(found.code, found.exit_code) for found in start_findings(replace(made, cwd=str(cwd)))]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that can be started."""
    path = tmp_path / "server"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_what_can_be_started_has_no_finding(program: Path, tmp_path: Path) -> None:
    assert said(program, tmp_path) == []


def test_a_missing_program_is_127_and_one_that_cannot_be_executed_126(program: Path, tmp_path: Path) -> None:
    assert said(tmp_path / "gone", tmp_path) == [("program-missing", 127)]
    program.chmod(0o644)
    assert said(program, tmp_path) == [("program-not-executable", 126)]
    assert said(tmp_path, tmp_path) == [("program-not-executable", 126)]


def test_a_script_whose_interpreter_is_gone_is_told_so(program: Path, tmp_path: Path) -> None:
    program.write_text("#!/opt/gone/python\n")
    assert said(program, tmp_path) == [("interpreter-missing", 126)]


def test_a_working_folder_that_is_none_is_78(program: Path, tmp_path: Path) -> None:
    assert said(program, tmp_path / "gone") == [("cwd-missing", 78)]
    assert said(program, program) == [("cwd-missing", 78)]
