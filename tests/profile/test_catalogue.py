"""The list of profiles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from launcher.errors import Refused
from launcher.profile.catalogue import Listed, list_profiles, text_of
from launcher.profile.lookup import shipped_folder
from tests.profile.conftest import MINIMAL, Bench


def listed(bench: Bench) -> dict[str, Listed]:
    return {entry.name: entry for entry in reversed(list_profiles(bench.places))}


def test_a_profile_is_listed_with_its_engine_and_description(bench: Bench) -> None:
    bench.name(MINIMAL + "description: what it is\n")
    entry = listed(bench)["mine"]
    assert (entry.engine, entry.description, entry.problem, entry.shipped) == ("sglang", "what it is", None, False)
    assert entry.path == bench.named / "mine.yaml"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (MINIMAL + "prot: 1\n", "line 4: prot: there is no such key."),
        (MINIMAL + "args: [\n", "line 5: a bracket is not closed"),
        ("", "there is nothing in it."),
        (MINIMAL.replace("mine", "other"), "line 2: name: it is other in a file that answers to mine."),
        (MINIMAL + "extends: gone\n", "line 4: extends: gone: there is no profile named gone."),
        (MINIMAL + "extends: mine\n", "line 4: extends: "),
    ],
)
def test_a_broken_profile_is_listed_with_its_first_problem(bench: Bench, text: str, problem: str) -> None:
    bench.name(text)
    found = listed(bench)["mine"].problem
    assert found is not None
    assert found.startswith(problem)


def test_bytes_that_are_no_text_do_not_break_the_list(bench: Bench) -> None:
    (bench.named / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    (bench.named / "dangling.yaml").symlink_to(bench.named / "gone")
    assert listed(bench)["mine"].problem == "line 1: This is UTF-16."
    assert "dangling" not in listed(bench)


def test_a_variable_that_is_not_set_is_no_problem_of_the_profile(bench: Bench) -> None:
    bench.name(
        MINIMAL + "model: ${MODEL:?which}\ntarget: {python: '${PY}'}\nenv: {path: ['${HOME}/bin'], set: {A: '${B}'}}\n"
    )
    assert listed(bench)["mine"].problem is None


def test_what_only_root_is_refused_is_a_problem_for_root(bench: Bench) -> None:
    bench.name(MINIMAL)
    (bench.named / "mine.yaml").chmod(0o666)
    (user,) = (entry for entry in list_profiles(bench.places) if entry.name == "mine")
    (root,) = (entry for entry in list_profiles(bench.places, uid=0) if entry.name == "mine")
    assert user.problem is None
    assert "Others can write to it" in (root.problem or "")


def test_what_a_parent_says_counts(bench: Bench) -> None:
    bench.name("schema: 1\nname: base\nengine: vllm\ndescription: base\n", "base")
    bench.name("name: mine\nextends: base\n")
    assert (listed(bench)["mine"].engine, listed(bench)["mine"].description) == ("vllm", "")


def test_a_shadowed_profile_names_the_file_that_answers(bench: Bench, tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / "mine.yaml").write_text(MINIMAL)
    bench.name(MINIMAL)
    places = replace(bench.places, profiles=(str(bench.named), str(second)))
    one, two = (entry for entry in list_profiles(places) if entry.name == "mine")
    assert one.shadowed_by is None
    assert two.shadowed_by == one.file == str(bench.named / "mine.yaml")


def test_the_shipped_profiles_are_listed_without_a_problem(bench: Bench) -> None:
    shipped = [entry for entry in list_profiles(bench.places) if entry.shipped]
    assert {entry.name for entry in shipped} == {file.stem for file in shipped_folder().glob("*.yaml")}
    assert {"demo", "kimi-k26-dflash"} <= {entry.name for entry in shipped}
    assert [entry.problem for entry in shipped] == [None] * len(shipped)
    assert all(entry.description and entry.file == f"shipped/{entry.name}.yaml" for entry in shipped)


def test_the_text_of_a_profile_is_its_file_as_it_stands(bench: Bench) -> None:
    located, text = text_of("demo", places=bench.places, cwd=str(bench.work))
    assert text == (shipped_folder() / "demo.yaml").read_text(encoding="utf-8")
    assert (located.label, located.name) == ("shipped/demo.yaml", "demo")
    with pytest.raises(Refused):
        text_of("gone", places=bench.places, cwd=str(bench.work))
