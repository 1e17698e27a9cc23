"""One generated token: the shortest request that goes through the tokenizer, the scheduler and the GPU and back.

`/v1/completions` is the same in vLLM, SGLang, llama.cpp and transformers; the model is the first that it names itself.
"""

from __future__ import annotations

import json

from launcher.liveness.http import ask

_NAMES = 10.0  # seconds for the list of models
_PROMPT = "1"


def one_token(address: str, key: str | None, *, timeout: float, model: str | None = None) -> str:
    """Empty after a token came; else what came instead. `timeout` is in seconds; `model` None: it is asked for one."""
    body = json.dumps({"model": model or _model(address, key), "prompt": _PROMPT, "max_tokens": 1, "temperature": 0})
    answer = ask(f"{address}/v1/completions", timeout=timeout, key=key, body=body)
    if answer is None:
        return "no answer"
    if not answer.good:
        return f"status {answer.status}"
    return "" if _has_a_choice(answer.text) else "an answer without a choice"


def _model(address: str, key: str | None) -> str:
    """The first model that it serves; servers of one model take any name."""
    answer = ask(f"{address}/v1/models", timeout=_NAMES, key=key)
    try:
        return str(json.loads(answer.text)["data"][0]["id"]) if answer is not None and answer.good else "default"
    except (ValueError, LookupError, TypeError):
        return "default"


def _has_a_choice(text: str) -> bool:
    try:
        return bool(json.loads(text)["choices"])
    except (ValueError, LookupError, TypeError):
        return False
