"""A tiny random Llama in GGUF: half a megabyte that a real llama.cpp loads and answers with, made in a moment.

Its vocabulary is one token for each byte, so that no text is beyond it. It says nothing sensible.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from launcher.model import Step
from launcher.prepare.failure import Failure
from launcher.private_files import make_private

WIDTH, INNER, LAYERS, HEADS, KEY_HEADS, CONTEXT = 64, 128, 2, 2, 1, 512
SPECIAL = ("<|unk|>", "<|bos|>", "<|eos|>", "<|pad|>", "<|im_start|>", "<|im_end|>")
MERGES = ("h e", "l l", "i n", "t h", "e r", "o n")
VOCABULARY = 288  # tokens, filled up: matrix kernels like multiples of 32
SPREAD = 0.02  # standard deviation of the weights
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def carry_out(step: Step) -> None:
    """Writes it once. Raises Failure without the packages of the demo extra."""
    path = Path(step.path)
    if path.is_file():
        return
    try:
        import gguf
        import numpy
    except ImportError as error:
        fix = 'pip install "gpulaunch[demo]" into the environment of gpulaunch'
        raise Failure(f"the tiny model needs the package {error.name}", fix) from None
    make_private(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write(beside, gguf, numpy)
        beside.chmod(0o600)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def byte_tokens() -> list[str]:
    """GPT-2's printable stand-in for each byte: itself where it prints, else a character from 256 on. Pure."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    stand_in = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [stand_in[byte] for byte in range(256)]


def vocabulary() -> list[str]:
    """Special tokens, bytes, the merged pairs, and padding. Pure."""
    tokens = [*SPECIAL, *byte_tokens(), *(merge.replace(" ", "") for merge in MERGES)]
    return tokens + [f"[PAD{number}]" for number in range(len(tokens), VOCABULARY)]


def _write(path: Path, gguf: Any, numpy: Any) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    _describe(writer, gguf)
    _tokenize(writer, gguf)
    _weigh(writer, numpy)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer: Any, gguf: Any) -> None:
    writer.add_name("tiny-random-llama")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    for size in (writer.add_key_length, writer.add_value_length, writer.add_rope_dimension_count):
        size(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(VOCABULARY)


def _tokenize(writer: Any, gguf: Any) -> None:
    tokens = vocabulary()
    kinds = [_kind(token, gguf.TokenType) for token in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(list(MERGES))
    writer.add_bos_token_id(tokens.index("<|bos|>"))
    writer.add_eos_token_id(tokens.index("<|eos|>"))
    writer.add_pad_token_id(tokens.index("<|pad|>"))
    writer.add_chat_template(TEMPLATE)


def _kind(token: str, kinds: Any) -> Any:
    if token in SPECIAL:
        return kinds.CONTROL
    return kinds.UNUSED if token.startswith("[PAD") else kinds.NORMAL


def _weigh(writer: Any, numpy: Any) -> None:
    random = numpy.random.default_rng(0)  # the same model everywhere

    def matrix(name: str, *shape: int) -> None:
        writer.add_tensor(name, (random.standard_normal(shape) * SPREAD).astype(numpy.float32))

    def ones(name: str) -> None:
        writer.add_tensor(name, numpy.ones((WIDTH,), numpy.float32))

    keys = KEY_HEADS * WIDTH // HEADS
    matrix("token_embd.weight", VOCABULARY, WIDTH)
    matrix("output.weight", VOCABULARY, WIDTH)
    ones("output_norm.weight")
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        ones(f"{block}.attn_norm.weight")
        ones(f"{block}.ffn_norm.weight")
        for name, rows, columns in (
            ("attn_q", WIDTH, WIDTH),
            ("attn_k", keys, WIDTH),
            ("attn_v", keys, WIDTH),
            ("attn_output", WIDTH, WIDTH),
            ("ffn_gate", INNER, WIDTH),
            ("ffn_up", INNER, WIDTH),
            ("ffn_down", WIDTH, INNER),
        ):
            matrix(f"{block}.{name}.weight", rows, columns)
