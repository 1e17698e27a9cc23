"""Where a profile is looked for, and what is said when it is not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from launcher import errors
from launcher.errors import Refused
from launcher.profile.lookup import folders, identity, is_path, label, locate, names, shipped_folder, shipped_with
from tests.profile.conftest import MINIMAL, Bench, codes, told


@contextmanager
def without_root() -> Iterator[None]:
    """Root reads everything, so the test is somebody else for a moment."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("reference", ["./x", "x/y", "/x", "x.yaml", "x.yml", "~/x"])
def test_a_slash_or_an_ending_makes_a_path(reference: str) -> None:
    assert is_path(reference)


@pytest.mark.parametrize("reference", ["x", "qwen-2.5", "yaml", "x.yaml.bak"])
def test_everything_else_is_a_name(reference: str) -> None:
    assert not is_path(reference)


def test_a_name_is_never_looked_up_in_the_working_folder(bench: Bench) -> None:
    bench.write(MINIMAL, "mine.yaml")
    assert codes(bench.refused("mine")) == ["profile-not-found"]
    assert bench.load("mine.yaml").folder == str(bench.work)


def test_a_named_profile_has_no_folder_and_its_own_path_as_its_file(bench: Bench) -> None:
    asked = bench.load(bench.name(MINIMAL))
    assert (asked.file, asked.folder) == (str(bench.named / "mine.yaml"), None)


def test_a_path_is_named_as_it_was_given(bench: Bench) -> None:
    bench.write(MINIMAL, "sub/mine.yaml")
    asked = bench.load("sub/mine.yaml")
    assert (asked.file, asked.folder) == ("sub/mine.yaml", str(bench.work / "sub"))


def test_a_tilde_is_the_home_that_everything_goes_by(bench: Bench) -> None:
    (bench.home / "mine.yaml").write_text(MINIMAL)
    assert bench.load("~/mine.yaml").folder == str(bench.home)


def test_the_file_of_a_name_must_have_that_name(bench: Bench) -> None:
    (line,) = told(bench.refused(bench.name(MINIMAL, "other")))
    assert line.endswith(
        "other.yaml:2: name: it is mine in a file that answers to other. Write name: other, or rename the file."
    )


def test_a_file_given_by_path_may_have_any_name(bench: Bench) -> None:
    assert bench.load(bench.write(MINIMAL, "other.yaml")).profile.name == "mine"


def test_the_first_of_two_with_a_name_is_used_and_a_note_names_the_other(bench: Bench, tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / "mine.yaml").write_text(MINIMAL + "model: other\n")
    bench.name(MINIMAL)
    places = replace(bench.places, profiles=(str(bench.named), str(second)))
    located = locate("mine", places=places, relative_to=str(bench.work))
    assert located.path == bench.named / "mine.yaml"
    (note,) = located.findings
    assert (note.code, note.severity.value) == ("profile-shadowed", "note")
    assert str(second / "mine.yaml") in note.message


def test_the_note_of_a_shadowed_profile_reaches_the_plan(bench: Bench) -> None:
    bench.name(MINIMAL.replace("mine", "demo"), "demo")
    asked = bench.load("demo")
    assert asked.profile.engine == "sglang"
    assert codes(asked.findings) == ["profile-shadowed"]
    assert "shipped/demo.yaml is not" in asked.findings[0].message


def test_a_misspelt_name_is_answered_by_the_nearest_and_the_list(bench: Bench) -> None:
    bench.name(MINIMAL)
    (finding,) = bench.refused("mien")
    assert finding.message == "There is no profile named mien."
    assert finding.fix.startswith("Did you mean mine? Known: demo, ")
    assert finding.exit_code == errors.CONFIG


def test_part_of_a_name_is_near_enough(bench: Bench) -> None:
    assert "Did you mean kimi-k26-dflash?" in bench.refused("kimi")[0].fix


def test_another_ending_is_noticed(bench: Bench) -> None:
    (bench.named / "mine.yml").write_text(MINIMAL)
    assert f"{bench.named}/mine.yml must end in .yaml to be found." in bench.refused("mine")[0].fix


@pytest.mark.parametrize("reference", ["a" * 5000, "a\0b", "\x1b[2J", "..", ""])
def test_an_impossible_name_is_not_found(bench: Bench, reference: str) -> None:
    (finding,) = bench.refused(reference)
    assert finding.code == "profile-not-found"
    assert finding.message.isprintable()


@pytest.mark.parametrize("reference", ["a/" * 3000, "/a\0b", "./gone.yaml", "./mine.yaml/x"])
def test_an_impossible_path_is_not_found_or_not_readable(bench: Bench, reference: str) -> None:
    bench.write(MINIMAL)
    (finding,) = bench.refused(reference)
    assert finding.code in ("profile-not-found", "profile-unreadable")


def test_a_missing_file_is_told_with_what_to_do(bench: Bench) -> None:
    assert told(bench.refused("./gone.yaml")) == [
        "./gone.yaml:None: There is no such file. Correct the path; a name has neither a slash nor an ending."
    ]


def test_a_folder_is_no_profile(bench: Bench) -> None:
    assert told(bench.refused("./")) == ["./:None: This is a folder. Name a file in it."]


def test_a_file_that_may_not_be_read_exits_77(bench: Bench) -> None:
    reference = bench.write(MINIMAL)
    (bench.work / "mine.yaml").chmod(0)
    with without_root(), pytest.raises(Refused) as refusal:
        bench.load(reference)
    assert refusal.value.exit_code == errors.NO_PERMISSION
    assert refusal.value.findings[0].message == "It cannot be read: Permission denied."


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that even root cannot read is Linux's")
def test_a_parent_that_cannot_be_read_exits_77_and_is_told_where_it_is_named(bench: Bench) -> None:
    with pytest.raises(Refused) as refusal:
        bench.load(bench.write(MINIMAL + "extends: /proc/self/mem\n"))
    assert refusal.value.exit_code == errors.NO_PERMISSION
    (line,) = told(refusal.value.findings)
    assert line.startswith("./mine.yaml:4: extends: /proc/self/mem: it cannot be read: ")


def test_the_shipped_profiles_come_last_and_are_named_alike_everywhere(bench: Bench) -> None:
    assert folders(bench.places)[-1] == shipped_folder()
    assert label(shipped_folder() / "demo.yaml") == "shipped/demo.yaml"
    assert "demo" in dict(names(bench.places))


def test_what_is_shipped_lies_in_the_package_or_beside_it_in_a_checkout_and_nowhere_else(tmp_path: Path) -> None:
    package = tmp_path / "launcher"
    inside, beside = package / "shipped/profiles", tmp_path / "profiles"
    beside.mkdir()
    assert shipped_with(package, "profiles") == inside
    (tmp_path / "pyproject.toml").touch()
    assert shipped_with(package, "profiles") == beside
    inside.mkdir(parents=True)
    assert shipped_with(package, "profiles") == inside


def test_a_path_that_leads_nowhere_is_itself() -> None:
    assert identity(Path("/a\0b")) == Path("/a\0b")


def test_the_schema_lies_beside_the_profiles() -> None:
    assert (shipped_folder("schema") / "profile-1.schema.json").is_file()


def test_hidden_files_and_folders_are_no_profiles(bench: Bench) -> None:
    (bench.named / ".draft.yaml").write_text(MINIMAL)
    (bench.named / "folder.yaml").mkdir()
    assert not {"", ".draft", "folder"} & set(dict(names(bench.places)))
