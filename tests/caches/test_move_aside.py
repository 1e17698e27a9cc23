"""A poisoned build is moved into a folder beside its own, with the day in its name; nothing is lost."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from launcher.errors import Refused
from launcher.model import Step
from launcher.prepare import carry_out_steps
from tests.caches.trees import flashinfer_build


def move(folder: Path) -> None:
    carry_out_steps([Step(action="move-aside", path=str(folder), because="poisoned")])


def aside(folder: Path) -> Path:
    (found,) = folder.parent.parent.glob("cached_ops.set-aside-*")
    return found


def test_it_is_gone_from_its_place_and_whole_in_the_other(tmp_path: Path) -> None:
    folder = flashinfer_build(tmp_path, needs=("libcudart.so.12",))
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    move(folder)
    assert not folder.exists()
    assert re.fullmatch(r"cached_ops\.set-aside-\d{4}-\d\d-\d\d", aside(folder).name)
    assert {file.name: file.read_bytes() for file in (aside(folder) / "sampling").iterdir()} == before
    assert stat.S_IMODE(aside(folder).stat().st_mode) == 0o700


def test_another_one_of_the_same_day_does_not_take_its_place(tmp_path: Path) -> None:
    for _ in range(3):
        folder = flashinfer_build(tmp_path)
        move(folder)
    assert sorted(place.name for place in aside(folder).iterdir()) == ["sampling", "sampling.2", "sampling.3"]


def test_what_another_launcher_has_moved_already_is_no_failure(tmp_path: Path) -> None:
    folder = flashinfer_build(tmp_path)
    move(folder)
    move(folder)
    assert not folder.exists()


def test_other_modules_stay(tmp_path: Path) -> None:
    folder, other = flashinfer_build(tmp_path), flashinfer_build(tmp_path, "norm")
    move(folder)
    assert (other / "build.ninja").exists()


def test_where_it_cannot_be_moved_the_launch_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refused) as refused:
        move(tmp_path / "file/cached_ops/sampling")
    assert "cannot be made" in refused.value.findings[0].message
