"""Writes a tiny random Llama as Hugging Face keeps it, for real engines on a CPU: `python tiny_checkpoint.py FOLDER`.

Runs in the environment of the engines (torch, transformers, tokenizers). Nothing is downloaded: its vocabulary is one
token for each byte. It answers at once and says nothing sensible.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

UNKNOWN, BEGIN, END, PAD = SPECIAL = ("<unk>", "<s>", "</s>", "<pad>")
VOCABULARY = 288  # tokens: 256 bytes, the special ones, and room: matrix kernels like multiples of 32
CONTEXT = 512  # tokens
HEAD = 32  # width of an attention head: the smallest that vLLM's attention on a CPU takes
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def main(folder: Path) -> None:
    """Tokenizer and weights, the same ones everywhere."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder)
    write_weights(folder)


def write_tokenizer(folder: Path) -> None:
    """No merges: each byte stays a token."""
    names = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    bytewise = Tokenizer(models.BPE({name: number for number, name in enumerate(names)}, [], unk_token=UNKNOWN))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytewise,
        unk_token=UNKNOWN,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PAD,
        model_max_length=CONTEXT,
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)


def write_weights(folder: Path) -> None:
    """Two layers of random bfloat16."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=2 * HEAD,
        intermediate_size=4 * HEAD,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=HEAD,
        max_position_embeddings=CONTEXT,
        unk_token_id=SPECIAL.index(UNKNOWN),
        bos_token_id=SPECIAL.index(BEGIN),
        eos_token_id=SPECIAL.index(END),
        pad_token_id=SPECIAL.index(PAD),
        dtype=torch.bfloat16,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
