"""Any text at all is a profile or refused in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from launcher.errors import CONFIG, Refused
from launcher.paths import Places
from launcher.profile.asked import Asked
from launcher.profile.load import load_profile
from launcher.profile.scalars import Ambiguous, Number, read_plain
from launcher.profile.schema import Profile
from launcher.profile.tree import parse

KEYS = sorted(
    {
        *(field.alias or name for name, field in Profile.model_fields.items()),
        "set", "pass", "unset", "path", "url", "venv", "python", "count", "arch", "toolkit", "policy", "grace", "x",
        "[key]", "Ready", "mapping", "", "a.b", "args.port", "config", "tp_size", "tp-size",
    }
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "none", "auto", "8", "12.0", "60s", "on", "null", "true", "", "~", "/x", "${A}", "${B", "$$", "\"q\"", "'", "*",
        "&a", "sglang", "command", "demo", "./fuzz.yaml", ".5", "1_0", "!t", "\\", "#", ": ", "\n", "\r\n", "\t", "\0",
        "é", "\u2028",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
TREES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8)
PIECES = st.lists(st.sampled_from([f"{key}: " for key in KEYS]) | WORDS | st.sampled_from(list("{}[],-?:|>\n \"'%@`")))

relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    empty = str(tmp_path / "nothing")
    return Places(state=empty, cache=empty, data=empty, locks=empty, profiles=(), home="/home/serve")


def loaded(text: str, places: Places, folder: Path) -> Asked | None:
    """Loads it; a refusal must be made of sentences with a place and the right code."""
    (folder / "fuzz.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        return load_profile("./fuzz.yaml", environ={"A": "x"}, places=places, cwd=str(folder), uid=1000)
    except Refused as refused:
        assert refused.exit_code == CONFIG
        assert refused.findings
        for finding in refused.findings:
            assert finding.file or finding.code == "profile-not-found"
            assert finding.message.endswith(".")
            assert finding.message.isprintable() and finding.fix.isprintable()
        return None


@relaxed
@given(text=st.text())
def test_any_text_is_loaded_or_refused(text: str, places: Places, tmp_path: Path) -> None:
    loaded(text, places, tmp_path)


@relaxed
@given(pieces=PIECES)
def test_any_yaml_like_text_is_loaded_or_refused(pieces: list[str], places: Places, tmp_path: Path) -> None:
    loaded("schema: 1\nname: fuzz\nengine: sglang\n" + "".join(pieces), places, tmp_path)


@relaxed
@given(tree=TREES)
def test_any_tree_is_loaded_or_refused(tree: dict[str, Any], places: Places, tmp_path: Path) -> None:
    whole = {"schema": 1, "name": "fuzz", "engine": "vllm", **tree}
    loaded(yaml.safe_dump(whole, allow_unicode=True), places, tmp_path)


@relaxed
@given(raw=st.binary(max_size=200))
def test_any_bytes_are_loaded_or_refused(raw: bytes, places: Places, tmp_path: Path) -> None:
    (tmp_path / "fuzz.yaml").write_bytes(raw)
    with pytest.raises(Refused):
        load_profile("./fuzz.yaml", environ={}, places=places, cwd=str(tmp_path), uid=1000)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.text(max_size=20), max_size=5))
def test_quoted_text_comes_back_as_it_was(values: dict[str, str]) -> None:
    text = yaml.safe_dump({"args": values}, default_style='"', allow_unicode=True)
    document = parse(text, "file")
    if not any("\0" in value for value in values.values()):
        assert document.tree == {"args": values}


@given(st.lists(st.from_regex(r"[A-Za-z0-9._/+-]{1,12}", fullmatch=True), min_size=1, max_size=6))
def test_plain_scalars_keep_their_spelling_or_are_refused(words: list[str]) -> None:
    document = parse("".join(f"k{index}: {word}\n" for index, word in enumerate(words)), "file")
    if any(finding.code == "profile-syntax" for finding in document.findings):
        return
    for word, value in zip(words, document.tree.values(), strict=True):
        meant = read_plain(word)
        assert isinstance(meant, Ambiguous) or value == meant
        assert isinstance(meant, bool | Ambiguous | None) or value == word


@relaxed
@given(args=st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), VALUES, max_size=4))
def test_every_number_of_args_is_spelled_as_in_the_file(args: dict[str, Any], places: Places, tmp_path: Path) -> None:
    text = yaml.safe_dump({"schema": 1, "name": "fuzz", "engine": "vllm", "args": args}, allow_unicode=True)
    asked = loaded(text, places, tmp_path)
    if asked:
        for number in numbers(asked.profile.args):
            assert str(number) in text


def numbers(value: Any) -> Iterator[Number]:
    if isinstance(value, dict):
        value = list(value.values())
    for entry in value if isinstance(value, list) else ():
        yield from numbers(entry)
    if isinstance(value, Number):
        yield value
