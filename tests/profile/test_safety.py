"""Who else may write to a profile, and what follows from it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from launcher.errors import CONFIG, Refused
from launcher.model import Severity
from launcher.profile.safety import Access, check, is_private, others_can_write
from tests.profile.conftest import MINIMAL, USER, Bench, codes

FILE, FOLDER = stat.S_IFREG, stat.S_IFDIR


def access(mode: int, *, private_group: bool = False, gid: int = 1000, read_only: bool = False) -> Access:
    return Access(mode=mode, uid=1000, gid=gid, private_group=private_group, read_only=read_only)


@pytest.mark.parametrize(
    ("found", "can"),
    [
        (access(FILE | 0o644), False),
        (access(FILE | 0o646), True),
        (access(FILE | 0o664), True),
        (access(FILE | 0o664, private_group=True), False),
        (access(FILE | 0o664, gid=0), False),
        (access(FILE | 0o666, private_group=True), True),
        (access(FILE | 0o1666), True),
        (access(FILE | 0o666, read_only=True), False),
        (access(FOLDER | 0o755), False),
        (access(FOLDER | 0o777), True),
        (access(FOLDER | 0o1777), False),
        (access(FOLDER | 0o775), True),
        (access(FOLDER | 0o775, private_group=True), False),
        (access(FOLDER | 0o777, read_only=True), False),
    ],
)
def test_others_are_anybody_but_the_owner_root_and_the_owners_private_group(found: Access, can: bool) -> None:
    assert others_can_write(found) is can


@pytest.mark.parametrize(
    ("group", "members", "is_first", "private"),
    [
        ("serve", [], True, True),
        ("serve", ["serve"], True, True),
        ("serve", ["serve", "other"], True, False),
        ("users", [], True, False),
        ("serve", [], False, False),
    ],
)
def test_a_private_group_is_the_owners_first_and_of_nobody_else(
    group: str, members: list[str], is_first: bool, private: bool
) -> None:
    assert is_private(group, members, owner="serve", is_first=is_first) is private


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to a group of nobody's")
def test_a_group_that_nobody_knows_is_not_private(bench: Bench) -> None:
    reference = bench.write(MINIMAL)
    (bench.work / "mine.yaml").chmod(0o664)
    os.chown(bench.work / "mine.yaml", 54321, 54321)
    assert codes(bench.refused(reference, uid=0)) == ["profile-writable"]


def test_a_profile_that_others_can_write_is_refused_as_root(bench: Bench) -> None:
    reference = bench.write(MINIMAL)
    (bench.work / "mine.yaml").chmod(0o666)
    with pytest.raises(Refused) as refusal:
        bench.load(reference, uid=0)
    assert refusal.value.exit_code == CONFIG
    (finding,) = refusal.value.findings
    assert finding.message == f"Others can write to it ({bench.work}/mine.yaml), and a profile runs commands."
    assert finding.fix == f"chmod go-w '{bench.work}/mine.yaml'"


def test_it_is_a_warning_for_anybody_else(bench: Bench) -> None:
    reference = bench.write(MINIMAL)
    (bench.work / "mine.yaml").chmod(0o666)
    found = [finding for finding in bench.load(reference).findings if finding.code == "profile-writable"]
    assert [finding.severity for finding in found] == [Severity.WARNING]


def test_its_folder_counts_unless_it_is_sticky(bench: Bench) -> None:
    reference = bench.write(MINIMAL)
    bench.work.chmod(0o777)
    assert codes(bench.refused(reference, uid=0)) == ["profile-writable"]
    bench.work.chmod(0o1777)
    assert bench.load(reference, uid=0).profile.name == "mine"


def test_behind_a_link_the_file_counts_and_the_folder_of_the_link(bench: Bench, tmp_path: Path) -> None:
    bench.write(MINIMAL)
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    (open_folder / "link.yaml").symlink_to(bench.work / "mine.yaml")
    assert bench.load(str(open_folder / "link.yaml"), uid=0).profile.name == "mine"
    open_folder.chmod(0o777)
    (finding,) = bench.refused(str(open_folder / "link.yaml"), uid=0)
    assert str(open_folder) in finding.message
    open_folder.chmod(0o755)
    (bench.work / "mine.yaml").chmod(0o666)
    (finding,) = bench.refused(str(open_folder / "link.yaml"), uid=0)
    assert str(bench.work / "mine.yaml") in finding.message


def test_a_parent_that_others_can_write_is_refused_too(bench: Bench) -> None:
    bench.write(MINIMAL, "base.yaml")
    (bench.work / "base.yaml").chmod(0o666)
    (finding,) = bench.refused(bench.write(MINIMAL + "extends: ./base.yaml\n"), uid=0)
    assert (finding.code, finding.file) == ("profile-writable", "base.yaml")


def test_another_owner_alone_is_a_note(bench: Bench) -> None:
    bench.write(MINIMAL)
    mine = os.stat(bench.work / "mine.yaml").st_uid
    found = list(check(bench.work / "mine.yaml", "mine.yaml", uid=mine))
    assert not found
    if mine == 0:
        os.chown(bench.work / "mine.yaml", USER, -1)
        mine = USER
    found = list(check(bench.work / "mine.yaml", "mine.yaml", uid=mine + 1))
    assert [(finding.code, finding.severity) for finding in found] == [("profile-of-another", Severity.NOTE)]


def test_what_has_no_mode_to_look_at_is_let_pass(tmp_path: Path) -> None:
    assert not list(check(tmp_path / "gone" / "pipe", "pipe", uid=0))
