"""Variables and the home folder in parsed scalars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.profile.document import REFUSED, Document
from launcher.profile.expand import EXPANDED, expand
from launcher.profile.scalars import Number

HOME = "/home/serve"


def expanded(text: Any, environ: Mapping[str, str] | None = None, home: str | None = HOME) -> Any:
    """The value of one key after expansion; nothing may be wrong with it."""
    document = Document("file", tree={"model": text})
    expand(document, environ or {}, home)
    assert not document.errors
    return document.tree["model"]


def problem(text: str, environ: Mapping[str, str] | None = None, home: str | None = HOME) -> str:
    """What is wrong with it."""
    document = Document("file", tree={"model": text})
    expand(document, environ or {}, home)
    assert document.tree["model"] is REFUSED
    (finding,) = document.findings
    return f"{finding.message} {finding.fix}"


@pytest.mark.parametrize(
    ("text", "environ", "value"),
    [
        ("${A}", {"A": "x"}, "x"),
        ("a-${A}-${B}", {"A": "x", "B": "y"}, "a-x-y"),
        ("${A}", {"A": ""}, ""),
        ("${A:-d}", {}, "d"),
        ("${A:-d}", {"A": ""}, "d"),
        ("${A:-d}", {"A": "x"}, "x"),
        ("${A:-}", {}, ""),
        ("${A:?m}", {"A": "x"}, "x"),
        ("${A:-${B}}", {"B": "y"}, "y"),
        ("${A:-${B:-c}}", {}, "c"),
        ("${A:-${B}}", {"A": "x"}, "x"),
        ("$$", {}, "$"),
        ("$${A}", {"A": "x"}, "${A}"),
        ("$$${A}", {"A": "x"}, "$x"),
        ("cost: 5$", {}, "cost: 5$"),
        ("a$b", {"b": "x"}, "a$b"),
        ("${A}", {"A": "${B}", "B": "never"}, "${B}"),
        ("${A}", {"A": "a # b"}, "a # b"),
        ("~", {}, HOME),
        ("~/models", {}, f"{HOME}/models"),
        ("a~/b", {}, "a~/b"),
        ("~other/x", {}, "~other/x"),
        ("${A:-~/cache}", {}, f"{HOME}/cache"),
        ("${A}", {"A": "~/x"}, "~/x"),
    ],
)
def test_expansion(text: str, environ: dict[str, str], value: str) -> None:
    assert expanded(text, environ) == value


@pytest.mark.parametrize(
    ("text", "environ", "says"),
    [
        ("${A}", {}, "model: ${A} is not set. Export A, or give a default: ${A:-VALUE}."),
        ("${A:?say which}", {}, "model: ${A} is not set: say which. Export A"),
        ("${A:?say which}", {"A": ""}, "model: ${A} is empty: say which. Export A"),
        ("${A:-${B}}", {}, "model: ${B} is not set."),
        ("${}", {}, "model: between ${ and } stands no name of a variable."),
        ("${A-b}", {}, "model: between ${ and } stands no name of a variable."),
        ("${1}", {}, "model: between ${ and } stands no name of a variable."),
        ("${A", {"A": "x"}, "model: a ${ is not closed."),
        ("${A:-{}", {"A": "x"}, "model: a ${ is not closed."),
        ("${A:-" * 9 + "}" * 9, {}, "model: defaults stand too deep inside each other."),
    ],
)
def test_what_cannot_be_expanded_is_named(text: str, environ: dict[str, str], says: str) -> None:
    assert says in problem(text, environ)


def test_without_a_home_a_tilde_is_an_error() -> None:
    assert "~ stands for no folder: HOME is not set" in problem("~/models", home=None)


def test_braces_of_json_and_templates_are_no_placeholders() -> None:
    for text in (
        '{"method": "mtp", "n": 2}',
        "{{ messages[0] }}",
        "{% for m in messages %}",
        "{a}",
        '{"a": {"b": "$"}}',
    ):
        assert expanded(text) == text


def test_a_default_may_hold_braces() -> None:
    assert expanded('${A:-{"a": {"b": 1}}}') == '{"a": {"b": 1}}'
    assert expanded('${A:-{"a": {"b": 1}}}', {"A": "x"}) == "x"


def test_types_are_kept() -> None:
    value = {
        "flag": True,
        "count": Number("3.10"),
        "text": "${A}",
        "list": [None, "${A}", Number("1")],
        "map": {"a": False},
    }
    result = expanded(value, {"A": "8"})
    assert result == {"flag": True, "count": "3.10", "text": "8", "list": [None, "8", "1"], "map": {"a": False}}
    assert [type(result["count"]), type(result["text"]), type(result["list"][2])] == [Number, str, Number]


def test_keys_are_not_expanded() -> None:
    assert expanded({"${A}": "x"}, {"A": "y"}) == {"${A}": "x"}


def test_only_the_named_keys_expand_and_elsewhere_it_is_an_error() -> None:
    assert EXPANDED == ("model", "target", "cwd", "env", "args", "command")
    document = Document("file", tree={"ready": {"url": "http://127.0.0.1:${PORT}/"}, "description": "costs ${A}"})
    expand(document, {"PORT": "1", "A": "x"}, HOME)
    assert [finding.message for finding in document.findings] == ["ready.url: ${...} is not expanded here."]
    assert document.tree == {"ready": {"url": REFUSED}, "description": "costs ${A}"}


def test_every_problem_is_told_at_once() -> None:
    document = Document("file", tree={"args": {"a": "${A}", "b": ["${B}", "x"]}, "cwd": "${C}"})
    expand(document, {}, HOME)
    assert [finding.message.split(" ")[:2] for finding in document.findings] == [
        ["args.a:", "${A}"],
        ["args.b.0:", "${B}"],
        ["cwd:", "${C}"],
    ]


def test_values_of_secret_variables_are_remembered_and_others_are_not() -> None:
    document = Document("file", tree={"args": {"a": "x-${HF_TOKEN}", "b": "${PLAIN}", "c": "${EMPTY_TOKEN}"}})
    environ = {"HF_TOKEN": "hf_abcdef", "PLAIN": "plain", "EMPTY_TOKEN": "", "OTHER_TOKEN": "unused"}
    assert expand(document, environ, HOME) == {"hf_abcdef"}


def test_a_name_without_braces_stays_and_gives_a_warning() -> None:
    document = Document("file", tree={"model": "$HOME/models"})
    expand(document, {"HOME": "/x"}, HOME)
    assert document.tree["model"] == "$HOME/models"
    (finding,) = document.findings
    assert (finding.code, finding.severity.value) == ("profile-bare-dollar", "warning")
    assert "Write ${HOME} for the variable, or $$HOME for the characters." in finding.fix


@pytest.mark.parametrize("tree", [{"model": "$$HOME"}, {"model": "5$"}, {"env": {"set": {"API_KEY": "pa$SWORD"}}}])
def test_no_warning_where_a_dollar_is_meant_or_part_of_a_secret(tree: dict[str, Any]) -> None:
    document = Document("file", tree=tree)
    expand(document, {}, HOME)
    assert not document.findings


@given(st.text(max_size=40))
def test_a_text_whose_dollars_are_doubled_comes_back(text: str) -> None:
    if not text.startswith("~"):
        assert expanded(text.replace("$", "$$")) == text


@given(st.text(max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_a_value_goes_in_as_it_is(value: str, before: str, after: str) -> None:
    quoted = before.replace("$", "$$").replace("~", "-")
    assert (
        expanded(f"{quoted}${{A}}{after.replace('$', '$$')}", {"A": value})
        == f"{before.replace('~', '-')}{value}{after}"
    )


@given(st.text(alphabet="${}:-?AB~/ ", max_size=30))
def test_any_text_is_expanded_or_refused(text: str) -> None:
    document = Document("file", tree={"model": text})
    expand(document, {"A": "x"}, HOME)
    assert (document.tree["model"] is REFUSED) == bool(document.errors)
