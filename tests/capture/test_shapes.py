"""Values that nobody told us of are known by their place or their shape, and ordinary words are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.capture.shapes import mask_line, mask_shapes

VALUE = "q7Xw9Zk3mB5tL1"


@pytest.mark.parametrize(
    "line",
    [
        f"--api-key {VALUE} --port 1",
        f"--api-key={VALUE}",
        f"['--api-key', '{VALUE}', '--port', '1']",
        f"non-default args: {{'model': 'm', 'api_key': '{VALUE}', 'port': 1}}",
        f"non-default args: {{'api_key': ['{VALUE}']}}",
        f"Namespace(api_key=['first', '{VALUE}'], port=1)",
        f'{{"api_key": ["{VALUE}"]}}',
        f'{{\\"api_key\\": [\\"{VALUE}\\"]}}',
        f'{{"hf_token": "{VALUE}"}}',
        f'{{\\"hf_token\\": \\"{VALUE}\\"}}',
        f"HF_TOKEN={VALUE}",
        f"export OPENAI_API_KEY='{VALUE}'",
        f"ServerArgs(api_key='{VALUE}', admin_api_key=None)",
        f"api_key: {VALUE}",
        f"Authorization: Bearer {VALUE}",
        f"'authorization': 'Bearer {VALUE.lower()}'",
        "Authorization: Basic onlyletters".replace("onlyletters", "ijklmnopq"),
        f"GET /v1?token={VALUE} HTTP/1.1",
        f"connect to https://user:{VALUE}@host/path",
        f"password='{VALUE}'",
        f"api_key=\x1b[32m'{VALUE}'\x1b[0m",
        "the key hf_thisIsNobodysToken was refused",
        "the key hf_abcdefghijklmnopqrstuvwxyzabcdefgh was refused",
        "sk-proj-abcDEF0123456789abcDEF",
        "sk-0123456789abcdef",
        "sk-0123456789",
        "nvapi-0a1b2c3d4e5f6g7h",
    ],
)  # fmt: skip
def test_a_secret_is_masked_and_nothing_else_on_its_line(line: str) -> None:
    masked = mask_shapes(f"before\n{line}\nafter\n".encode()).decode()
    secrets = (VALUE, "NobodysToken", "0123456789", "ijklmn", "0a1b2c")
    assert "***" in masked
    assert not any(secret in masked for secret in secrets)
    assert masked.startswith("before\n") and masked.endswith("\nafter\n")


@pytest.mark.parametrize(
    "line",
    [
        "pip install sk-learn-contrib sk-learn-intelex-20240101 scikit-learn",
        "HF_HUB_ENABLE_HF_TRANSFER with hf_transfer, hf_hub_download, hf_quantization_config, hf_overrides",
        "Avg prompt throughput: 12.3 tokens/s, max_num_batched_tokens=8192, token: the",
        "eos_token='</s>', pad_token: '<pad>', bos_token=\"<s>\", eos_token='<|im_end|>', image_token='<image>'",
        "api_key=None, hf_token=False, token=True, 'api_key': None, max_tokens_key=1.5",
        "KeyError: 'model.layers.0.weight' not in state_dict",
        "key=lambda x: x, cache_key='block', sort_key=name",
        "use --api-key to set it; --api-key is required; usage: serve [--api-key API_KEY]",
        "mail somebody@example.org about https://example.org/a@b",
        "INFO 12-03 00:00:00 [core.py:12] Basic settings and Bearer tokens",
        "secret: no, password: yes",
        "--ssl-keyfile /etc/key.pem --tokenizer-mode auto",
    ],
)
def test_ordinary_words_are_left_alone(line: str) -> None:
    assert mask_shapes(line.encode()) == line.encode()


@pytest.mark.parametrize(
    "part", [b"key_", b"token_ids_", b"pass-", b"api_key='", b'"key": [', b"--api-key ", b"https://", b"Bearer "]
)
def test_a_line_that_looks_like_many_secrets_takes_no_longer_than_others(part: bytes) -> None:
    """A model that repeats itself must not stop the one thread that reads it: quadratic rules took a minute here."""
    line = part * (64_000 // len(part)) + b"\n"
    assert len(mask_shapes(line)) <= len(line)


def test_each_of_several_secrets_on_one_line_is_masked() -> None:
    line = f"token='{VALUE}', api_key='{VALUE}' --hf-token {VALUE} https://u:{VALUE}@h".encode()
    assert mask_shapes(line) == b"token='***', api_key='***' --hf-token *** https://***@h"


PARTS = [
    "api_key",
    "--hf-token",
    "=",
    ": ",
    "'",
    '"',
    " ",
    "\n",
    "sk-",
    "hf_",
    "@",
    "://",
    "abc",
    "1" * 12,
    "Bearer ",
    "\\",
]


@given(st.lists(st.sampled_from(PARTS), max_size=30))
def test_looking_at_suspicious_lines_alone_is_as_good_as_at_all(parts: list[str]) -> None:
    data = "".join(parts).encode()
    assert mask_shapes(data) == b"\n".join(mask_line(line) for line in data.split(b"\n"))


@given(st.lists(st.sampled_from(PARTS), max_size=30))
def test_masking_twice_is_masking_once(parts: list[str]) -> None:
    once = mask_shapes("".join(parts).encode())
    assert mask_shapes(once) == once


@given(st.binary(max_size=500))
def test_no_bytes_break_it_or_change_the_number_of_lines(data: bytes) -> None:
    assert mask_shapes(data).count(b"\n") == data.count(b"\n")
