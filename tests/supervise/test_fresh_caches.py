"""A poisoned compile cache is moved aside, if it is ours and nobody else works with it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from launcher.model import Plan, Step
from launcher.supervise import fresh_caches
from tests import builders
from tests.survivors import Corral


@pytest.fixture
def corral() -> Iterator[Corral]:
    with Corral() as made:
        yield made


def plan(folder: Path) -> Plan:
    """A plan with a compile cache of ours and one of the operator's."""
    steps = (Step(action="folder", path=str(folder / "ours"), because="compiled while serving"),)
    env = {"TRITON_CACHE_DIR": str(folder / "ours"), "VLLM_CACHE_ROOT": str(folder / "theirs"), "HOME": str(folder)}
    return replace(builders.plan(), env=env, prepare=steps)


def test_what_was_compiled_is_beside_it_afterwards_and_the_cache_is_new(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/kernel").write_text("bad")
    (tmp_path / "theirs").mkdir()
    said = fresh_caches.move_aside(plan(tmp_path))
    assert said.startswith("compile caches moved aside")
    assert list((tmp_path / "ours").iterdir()) == []
    assert [kept.read_text() for kept in tmp_path.parent.glob(f"{tmp_path.name}.set-aside-*/ours/kernel")] == ["bad"]
    assert (tmp_path / "theirs").exists()


def test_only_folders_that_we_made_are_moved(tmp_path: Path) -> None:
    assert fresh_caches.folders(plan(tmp_path)) == (str(tmp_path / "ours"),)
    operators = replace(plan(tmp_path), prepare=())
    assert fresh_caches.folders(operators) == ()


def test_one_that_another_process_works_with_stays(corral: Corral, tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert not fresh_caches.others_use(made)
    other = corral.spawn(
        ["cat"], env={"TRITON_CACHE_DIR": str(tmp_path / "ours"), "PATH": "/usr/bin:/bin"}, stdin=subprocess.PIPE
    )
    assert fresh_caches.others_use(made)
    assert other.stdin is not None
    other.stdin.close()
    other.wait(10)
