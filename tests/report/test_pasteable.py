"""The command of a dry run: what a shell reads is what we meant, and no secret stands in it."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.report.pasteable import pasteable

WORD = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)))


@given(st.lists(WORD, min_size=1))
def test_without_secrets_it_is_what_shlex_join_makes(words: list[str]) -> None:
    # The user part of a URL is masked in any text, and a mask is no word to quote.
    words = [word.replace("@", "-").replace("*", "+") for word in words]
    assert pasteable(words, secrets=(), environ={}) == shlex.join(words)


@pytest.mark.parametrize(
    "word",
    [
        "s3cret-value",
        "--api-key=s3cret-value",
        "x s3cret-value y's",
        "s3cret-values3cret-value",
        "{'k': \"s3cret-value\"}",
    ],
)
def test_a_secret_of_the_callers_is_taken_from_its_variable(word: str) -> None:
    environ = {"MY_API_KEY": "s3cret-value", "PATH": "/usr/bin:/bin"}
    command = pasteable(["printf", "%s", word], secrets={"s3cret-value"}, environ=environ)
    assert "s3cret-value" not in command
    said = subprocess.run(["bash", "-c", command], env=environ, capture_output=True, text=True, check=True)
    assert said.stdout == word


def test_a_secret_that_no_variable_holds_is_left_to_the_operator() -> None:
    command = pasteable(["serve", "--api-key", "s3cret-value"], secrets={"s3cret-value"}, secret_words=[2], environ={})
    assert command == "serve --api-key ***"


def test_a_short_secret_hides_only_where_it_stands_alone() -> None:
    words = ["serve", "--api-key=abc", "--api-key", "abc", "--letters", "abcdef"]
    command = pasteable(words, secrets={"abc"}, secret_words=[1, 3], environ={"KEY": "abc"})
    assert command == 'serve --api-key="$KEY" --api-key "$KEY" --letters abcdef'


def test_a_mask_in_a_facts_file_names_no_variable() -> None:
    command = pasteable(["serve", "--api-key", "***"], secrets={"***"}, secret_words=[2], environ={"A_KEY": "***"})
    assert command == "serve --api-key ***"
