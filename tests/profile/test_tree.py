"""YAML text to a tree: lines, duplicate keys, and what is not read at all."""

from __future__ import annotations

import pytest

from launcher.profile.document import REFUSED, Document
from launcher.profile.scalars import Number
from launcher.profile.tree import parse


def told(document: Document) -> list[str]:
    return [f"{finding.line}: {finding.message} {finding.fix}" for finding in document.findings]


def only(text: str) -> str:
    (finding,) = told(parse(text, "file"))
    return finding


def test_every_key_and_entry_knows_its_line() -> None:
    document = parse("a:\n  b: 1\n  c:\n    - x\n    - y\nd: {e: f}\n", "file")
    lines = {key: where.line for key, where in document.lines.items()}
    assert lines == {"a": 1, "a.b": 2, "a.c": 3, "a.c.0": 4, "a.c.1": 5, "d": 6, "d.e": 6}


def test_scalars_keep_their_type_and_spelling() -> None:
    tree = parse('a: 3.10\nb: "3.10"\nc: true\nd: "true"\ne: null\nf: [1e-5, x]\n', "file").tree
    assert tree == {"a": "3.10", "b": "3.10", "c": True, "d": "true", "e": None, "f": ["1e-5", "x"]}
    assert (type(tree["a"]), type(tree["b"])) == (Number, str)


def test_quotes_settle_what_would_be_ambiguous() -> None:
    text = "a: 'on'\nb: \"010\"\nc: \"\"\nd: '~'\ne: |-\n  yes\n"
    document = parse(text, "file")
    assert not document.findings
    assert document.tree == {"a": "on", "b": "010", "c": "", "d": "~", "e": "yes"}


def test_every_ambiguous_scalar_is_told_with_its_line_and_key() -> None:
    document = parse("a: on\nb:\n  c: [x, 010]\n", "file")
    assert told(document) == [
        '1: a: on may be true or text. Write true or "on".',
        '3: b.c.1: 010 may be an octal number, a decimal one or text. Write 8 or 10 or "010".',
    ]
    assert document.tree == {"a": REFUSED, "b": {"c": ["x", REFUSED]}}


def test_an_ambiguous_secret_is_not_repeated() -> None:
    assert only("api-key: 0123456\n").startswith("1: api-key: it may be an octal number")
    assert "0123456" not in only("api-key: 0123456\n")


def test_nothing_after_a_colon_is_no_value() -> None:
    assert only("a: 1\nargs:\n# port: 1\n") == (
        '2: args: it has no value, which may be null or empty text. Write null or "", or leave the key out.'
    )


def test_a_key_that_stands_twice_names_both_lines() -> None:
    assert only("a: 1\nb: 2\n'a': 3\n") == "3: a: it stands twice, here and on line 1. Keep one of them."
    assert only("x:\n  a: {b: 1, c: 2, b: 3}\n") == "2: x.a.b: it stands twice, here and on line 2. Keep one of them."


def test_keys_are_text_whatever_they_would_mean_as_values() -> None:
    assert parse("on: 1\n010: 2\nnull: 3\n", "file").tree == {"on": "1", "010": "2", "null": "3"}


def test_aliases_are_plain_yaml() -> None:
    document = parse("a: &here [1, 2]\nb: *here\n", "file")
    assert not document.findings
    assert document.tree == {"a": ["1", "2"], "b": ["1", "2"]}


def test_a_bomb_of_aliases_is_one_sentence() -> None:
    layers = "\n".join(f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 10)}]" for n in range(1, 10))
    assert "without end" in only(f"k0: &k0 [x]\n{layers}\n")


@pytest.mark.parametrize("text", ["a: &a {b: *a}\n", f"a: {'[' * 30}{']' * 30}\n", "[" * 5000])
def test_endless_nesting_is_one_sentence(text: str) -> None:
    assert "without end" in only(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is nothing in it"),
        ("# only a comment\n", "there is nothing in it"),
        ("---\n", "this is one text, not a mapping"),
        ("- a\n- b\n", "1: this is a list, not a mapping"),
        ("port:8000\n", "1: this is one text, not a mapping. A profile is one mapping"),
        ("a: 1\n---\nb: 2\n", "3: a second document begins here, after ---. One file holds one profile"),
        ("<<: {a: 1}\n", "1: merge keys (<<) are not read. Use extends"),
        ("a: !!python/object/apply:os.system [true]\n", "1: a: it has the tag tag:yaml.org,2002:python/object/apply"),
        ("a: !!str 010\n", "1: a: it has the tag tag:yaml.org,2002:str. Leave the tag out"),
        ("a: !env X\n", "1: a: it has the tag !env"),
        ("!!str a: b\n", "1: a key has the tag"),
        ("? [a]\n: b\n", "1: a key here is no word"),
        ('a: "\\0"\n', "1: a: it holds a character that is no text"),
        ('a: "\\ud800"\n', "1: a: it holds a character that is no text"),
        ('"\\0": b\n', "1: a key holds a character that is no text"),
    ],
)
def test_what_is_no_profile_is_told_in_one_sentence(text: str, says: str) -> None:
    assert says in only(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\n\tb: 2\n", "2: a tab stands where only spaces may. Indent with spaces."),
        ("a: @x\n", '1: text without quotes cannot begin with @. Put it in quotes: "@...".'),
        ("pass: [*]\n", "1: a * at the beginning of a text is YAML's sign for an alias."),
        ("pass: [*_TOKEN]\n", "1: a * at the beginning of a text is YAML's sign for an alias."),
        ("a: &x 1\nb: &x 2\n", "2: a & at the beginning of a text is YAML's sign for an anchor"),
        ("a: b: c\n", "1: a second colon in one line"),
        ("a: 1\n  b: 2\n", "2: a second colon in one line, or a line that is indented too far"),
        ("a: 'x\nb: 1\n", "a quote is opened and never closed (it begins on line 1). Close it."),
        ('a: "\\q"\n', "1: an escape in double quotes is unknown."),
        ('b: 1\na: "\\UFFFFFFFF"\n', "2: an escape in double quotes names no character."),
        ("a: [1, 2\nb: 3\n", "2: a bracket is not closed, or a comma is missing (it begins on line 1)."),
        ("a: {b: ${C}}\n", 'put a text that holds any of {}[], in quotes, as in "${NAME}"'),
        ("a: 1\nb\n", "a line is no KEY: VALUE"),
        ("a: 'don't'\n", "1: text follows a closed quote"),
        ("a:\n  - 1\n - 2\n", "3: the indentation does not fit the lines above"),
        ("a: - b\n", "1: a list begins in the middle of a line."),
        ("a: 1\nb: \x07\n", "2: a control character stands here."),
        ("%YAML 3.0\n---\na: 1\n", "1: this is not YAML (found incompatible YAML document"),
    ],
)
def test_a_syntax_error_is_one_sentence_of_ours_with_its_line(text: str, says: str) -> None:
    assert says in only(text)


def test_a_value_that_is_not_read_is_refused_not_null() -> None:
    assert parse('a: !x 1\nb: "\\0"\n', "file").tree == {"a": REFUSED, "b": REFUSED}


def test_control_characters_of_a_file_reach_no_terminal() -> None:
    (finding,) = parse('"\\e[2Ja": on\n', "file").findings
    assert finding.message.startswith("\\x1b[2Ja: ")
