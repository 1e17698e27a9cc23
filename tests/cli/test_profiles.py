"""`gpulaunch profiles` and `gpulaunch schema`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Answer, Caller

Here = Callable[..., Answer]


def test_the_list_names_every_shipped_profile_with_engine_and_file(here: Here) -> None:
    answer = here("profiles", "list")
    assert (answer.code, answer.err) == (0, "")
    assert "kimi-k26-dflash  sglang" in answer.out
    assert "shipped/demo.yaml" in answer.out


def test_the_list_as_json(here: Here) -> None:
    said = json.loads(here("profiles", "list", "--json").out)
    assert said["schema_version"] == 1
    demo = next(entry for entry in said["profiles"] if entry["name"] == "demo")
    assert (demo["engine"], demo["shipped"], demo["shadowed_by"], demo["problem"]) == ("llamacpp", True, None, None)


def test_show_prints_the_file_as_it_stands(here: Here) -> None:
    said = here("profiles", "show", "kimi-k26-dflash").out
    path = next(
        entry["path"]
        for entry in json.loads(here("profiles", "list", "--json").out)["profiles"]
        if entry["name"] == "kimi-k26-dflash"
    )
    assert said == Path(path).read_text()


def test_a_copy_answers_to_its_name_from_then_on(here: Here, caller: Caller) -> None:
    copied = here("profiles", "copy", "kimi-k26-dflash", "mine")
    path = Path(copied.out.strip())
    assert path == Path(caller.environ["HOME"], ".config/gpulaunch/profiles/mine.yaml")
    assert yaml.safe_load(path.read_text())["name"] == "mine"
    assert here("explain", "--profile", "mine").code == 0


def test_a_copy_overwrites_nothing(here: Here, caller: Caller) -> None:
    (caller.folder / "there.yaml").write_text("mine\n")
    answer = here("profiles", "copy", "demo", "./there.yaml")
    assert answer.code == 2
    assert "there.yaml is there already" in answer.err
    assert (caller.folder / "there.yaml").read_text() == "mine\n"


def test_a_place_that_cannot_be_written_is_named(here: Here, caller: Caller) -> None:
    (caller.folder / "file").write_text("")
    answer = here("profiles", "copy", "demo", "./file/there.yaml")
    assert answer.code == 77
    assert "cannot be written: " in answer.err


@pytest.mark.parametrize("verb", ["show", "copy"])
def test_a_profile_that_is_not_there_is_78_with_the_nearest(here: Here, verb: str) -> None:
    answer = here("profiles", verb, "kimi-k26-dflsh")
    assert answer.code == 78
    assert "Did you mean kimi-k26-dflash?" in answer.err


def test_the_schema_is_json_schema(here: Here) -> None:
    said = json.loads(here("schema").out)
    assert "$schema" in said
    assert {"name", "engine", "model", "args", "cuda"} <= set(said["properties"])
