"""Stacks of a server that hangs: bounded, and a reason where there are none."""

from __future__ import annotations

import time
from pathlib import Path

from launcher.causes import stack_dump


def py_spy(folder: Path, script: str) -> str:
    program = folder / "py-spy"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(folder)


def test_r101_the_stacks_are_shown_before_a_hanging_server_is_ended(tmp_path: Path) -> None:
    """R101 sgl-project/sglang#8232: the dump failed for want of py-spy, and nobody knew where it stood."""
    dump = stack_dump.dump([7, 8], py_spy(tmp_path, 'echo "Thread 0x1 (active): $*"'))
    assert dump.problem is None
    assert "--- py-spy dump --pid 7\nThread 0x1 (active): dump --pid 7" in dump.text
    assert "--pid 8" in dump.text


def test_r101_without_py_spy_it_is_said(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("PATH", str(tmp_path))
    dump = stack_dump.dump([7], str(tmp_path))
    assert dump.text == "" and dump.problem is not None and "pip install py-spy" in dump.problem


def test_what_py_spy_says_is_the_reason(tmp_path: Path) -> None:
    dump = stack_dump.dump([7], py_spy(tmp_path, 'echo "Error: Permission Denied"; exit 1'))
    assert dump.problem == "py-spy dump --pid 7: Error: Permission Denied"


def test_a_py_spy_that_hangs_is_ended(tmp_path: Path) -> None:
    begin = time.monotonic()
    dump = stack_dump.dump([7, 8, 9], py_spy(tmp_path, "sleep 60"), patience=0.3)
    assert dump.text == "" and dump.problem is not None and "longer than" in dump.problem
    assert time.monotonic() - begin < 10
