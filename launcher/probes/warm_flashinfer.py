"""Compiles modules of FlashInfer's before a server needs them. Runs in the target, under the server's environment.

    python warm_flashinfer.py MODEL NAME...     MODEL is a folder with config.json, or empty

One line of JSON for each thing that happens: {"module", "state", "because"}; the states are begun, built, there,
prebuilt, skipped and failed. Nothing is loaded, no GPU is needed.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LONGEST = 20000  # characters of what a compiler said


class Skipped(Exception):
    """This module is not built, and why."""


def main(words: list[str]) -> int:
    """0 if nothing failed."""
    model, names = words[0], words[1:]
    failed = 0
    for name in names:
        try:
            for spec in specs(name, model):
                failed += build(spec)
        except Skipped as skipped:
            tell(name, "skipped", str(skipped))
        except Exception as error:
            failed += 1
            tell(name, "failed", f"{type(error).__name__}: {error}")
    return 1 if failed else 0


def build(spec: Any) -> int:
    """1 if it failed."""
    if spec.is_aot:
        tell(spec.name, "prebuilt")
        return 0
    tell(spec.name, "begun")
    before = stamp(spec.jit_library_path)
    try:
        spec.build(verbose=False)
    except Exception as error:
        tell(spec.name, "failed", f"{type(error).__name__}: {error}"[-_LONGEST:])
        return 1
    tell(spec.name, "there" if stamp(spec.jit_library_path) == before else "built")
    return 0


def stamp(library: Path) -> Any:
    """Changes when it is built anew."""
    return library.stat().st_mtime_ns if library.exists() else None


def specs(name: str, model: str) -> Iterator[Any]:
    """What FlashInfer builds by this name. Raises Skipped where this version has none."""
    if name == "attention":
        yield from attention(model)
        return
    file, function = (
        ("fused_moe", f"gen_cutlass_{name}_module")
        if name.startswith("fused_moe")
        else (
            name,
            f"gen_{name}_module",
        )
    )
    try:
        yield getattr(importlib.import_module(f"flashinfer.jit.{file}"), function)()
    except (ModuleNotFoundError, AttributeError) as missing:
        if "flashinfer." not in f"flashinfer.{getattr(missing, 'name', '') or ''}":
            raise
        raise Skipped(f"this FlashInfer has no {function}") from None


def attention(model: str) -> Iterator[Any]:
    """Batch prefill and decode for the model's head size and type, as the engines ask for them without extras."""
    import torch
    from flashinfer import jit

    size, kind = head(model)
    dtype = getattr(torch, kind, torch.bfloat16)
    plain = (dtype, dtype, dtype, torch.int32, size, size, 0, False, False)
    yield jit.gen_batch_prefill_module("fa2", *plain, False)
    yield jit.gen_batch_decode_module(*plain)


def head(model: str) -> tuple[int, str]:
    """Head size and type by config.json. Raises Skipped where it does not say."""
    file = Path(model, "config.json")
    if not model or not file.is_file():
        raise Skipped("the model's config.json is not here: its head size could not be told")
    said = json.loads(file.read_text(encoding="utf-8"))
    said = said.get("text_config", said)
    size = said.get("head_dim")
    if size is None and said.get("hidden_size") and said.get("num_attention_heads"):
        size = said["hidden_size"] // said["num_attention_heads"]
    if not isinstance(size, int) or "kv_lora_rank" in said:
        raise Skipped("the model's config.json names no head size of plain attention")
    return size, str(said.get("torch_dtype") or said.get("dtype") or "bfloat16")


def tell(module: str, state: str, because: str = "") -> None:
    """One line."""
    print(json.dumps({"module": module, "state": state, "because": because}), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
