"""Facts to JSON and back: masked, stable, and every problem of a broken file at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.errors import Refused
from launcher.facts.document import dump, load, masked
from launcher.model import Facts
from tests.builders import facts, plan


def written(path: Path, text: str) -> str:
    """A file with a text."""
    path.write_text(text)
    return str(path)


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    there = facts(environ={"HF_TOKEN": "hf_0123456789"})
    assert load(written(tmp_path / "facts.json", dump(there))) == masked(there)


@given(st.dictionaries(st.from_regex(r"[A-Z_]{1,12}", fullmatch=True), st.text(max_size=30), max_size=8))
def test_whatever_the_environment_is_it_survives_the_round_trip(environ: dict[str, str]) -> None:
    there = facts(environ=environ)
    assert dump(masked(there)) == dump(there)
    assert json.loads(dump(there))["schema_version"] == 1


def test_no_secret_is_written() -> None:
    environ = {"HF_TOKEN": "hf_0123456789", "COPY": "x hf_0123456789 y", "https_proxy": "http://me:pass-word@proxy:1"}
    text = dump(facts(environ=environ))
    assert "hf_0123456789" not in text
    assert "pass-word" not in text


def refused(path: str) -> Refused:
    """Why a file cannot be used."""
    with pytest.raises(Refused) as error:
        load(path)
    return error.value


def test_every_problem_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    plain = json.loads(dump(facts()))
    del plain["host"]
    plain["toolkits"] = "none"
    said = refused(written(tmp_path / "facts.json", json.dumps(plain)))
    assert said.exit_code == 78
    assert {finding.message.partition(":")[0] for finding in said.findings} == {"host", "toolkits"}


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "[]", '"text"', "{}", '{"schema_version": 1}'])
def test_what_is_no_facts_file_is_refused_in_sentences(tmp_path: Path, text: str) -> None:
    assert refused(written(tmp_path / "facts.json", text)).findings


def test_a_file_of_a_newer_version_is_refused_with_both_numbers(tmp_path: Path) -> None:
    said = refused(written(tmp_path / "facts.json", '{"schema_version": 2}'))
    assert "schema_version 2" in said.findings[0].message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert "No such file" in refused(str(tmp_path / "nothing")).findings[0].message


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_json_is_facts_or_refused(tmp_path_factory: pytest.TempPathFactory, plain: object) -> None:
    path = tmp_path_factory.mktemp("json") / "facts.json"
    path.write_text(json.dumps(plain))
    try:
        assert isinstance(load(str(path)), Facts)
    except Refused as said:
        assert said.findings


def test_bytes_that_are_no_utf8_do_not_make_a_file_that_cannot_be_read_again(tmp_path: Path) -> None:
    text = dump(facts(environ={"ODD": "a\udcffb"}))
    (tmp_path / "facts.json").write_text(text, encoding="utf-8")
    assert load(str(tmp_path / "facts.json")).caller.environ["ODD"] == "a\ufffdb"


def test_a_toolkit_that_says_no_way_to_it_is_planned_with(tmp_path: Path) -> None:
    plain = json.loads(dump(facts()))
    plain["toolkits"][0]["found"] = []
    there = load(written(tmp_path / "facts.json", json.dumps(plain)))
    assert plan(here=there).toolkit.strategy == "hide"
