"""What is worth saying about a profile that can be used."""

from __future__ import annotations

import pytest

from tests.profile.conftest import Bench, codes, told


@pytest.mark.parametrize(
    "lines",
    [
        "restart: {policy: never}\n",
        "ready: {path: /health, timeout: 5m}\n",
        "ready: {generate: false}\n",
        "stop: {grace: 5s}\n",
        "ready: {path: /health, generate: true, stall: 20m}\n",
        "live: {stall: 5m}\n",
        "log: {rotate: 64MiB, keep: 3}\n",
        "restart: {policy: on-failure, max: 5}\n",
    ],
)
def test_no_key_is_without_effect(bench: Bench, lines: str) -> None:
    assert not bench.asked(lines).findings


@pytest.mark.parametrize(
    ("lines", "key", "variable"),
    [
        ("args: {api-key: sk-12345678}\n", "args.api-key", "API_KEY"),
        ("args: {api_key: 12345678}\n", "args.api-key", "API_KEY"),
        ("env: {set: {HF_TOKEN: hf_12345678}}\n", "env.set.HF_TOKEN", "HF_TOKEN"),
        ("args: {header: {auth_token: abc}}\n", "args.header.auth_token", "AUTH_TOKEN"),
        ("model: https://user:word@host/x\n", "model", "NAME"),
        ("env: {set: {HTTPS_PROXY: 'http://user:word@proxy'}}\n", "env.set.HTTPS_PROXY", "NAME"),
    ],
)
def test_a_secret_in_clear_is_a_warning_that_offers_a_variable(
    bench: Bench, lines: str, key: str, variable: str
) -> None:
    (line,) = told(bench.asked(lines).findings)
    assert f"{key}: a secret stands in the file in clear." in line
    assert f'Write "${{{variable}}}" instead, and export {variable}.' in line
    assert "1234" not in line
    assert "word" not in line


@pytest.mark.parametrize("words", ['[a, --api-key, "sk-1234"]', '[a, "--api-key=sk-1234"]'])
def test_a_secret_in_a_command_is_noticed(bench: Bench, words: str) -> None:
    text = f"schema: 1\nname: mine\nengine: command\nready: none\ncommand: {words}\n"
    (line,) = told(bench.load(bench.write(text)).findings)
    assert "a secret stands in the file in clear" in line
    assert "1234" not in line


def test_a_word_after_an_option_with_its_value_is_no_secret(bench: Bench) -> None:
    words = "[a, '--api-key=${K}', word, --token, '${K}', b]"
    text = f"schema: 1\nname: mine\nengine: command\nready: none\ncommand: {words}\n"
    assert not bench.load(bench.write(text), environ={"K": "12345678"}).findings


@pytest.mark.parametrize(
    "lines",
    [
        "args: {api-key: '${API_KEY}'}\n",
        "env: {pass: [HF_TOKEN]}\n",
        "args: {max-tokens: 5, tokenizer: x, trust-remote-code: true, api-key-file: /x}\n",
        "args: {allowed-origins: 'https://host/x'}\n",
    ],
)
def test_what_is_no_secret_in_clear_gives_no_warning(bench: Bench, lines: str) -> None:
    assert not bench.asked(lines, API_KEY="12345678").findings


def test_values_of_secret_variables_are_handed_on_for_masking(bench: Bench) -> None:
    asked = bench.asked("args: {api-key: 'x-${MY_SECRET}'}\n", MY_SECRET="s3cr3t-value")
    assert asked.secrets == {"s3cr3t-value"}
    assert asked.profile.args == {"api-key": "x-s3cr3t-value"}


def test_several_notes_keep_their_codes(bench: Bench) -> None:
    asked = bench.asked("model: $HOME/x\nargs: {api-key: abc}\n")
    assert sorted(codes(asked.findings)) == ["profile-bare-dollar", "profile-clear-secret"]
