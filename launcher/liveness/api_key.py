"""The key that the server asks its clients for, read from what it is started with. Pure.

It is never part of the plan that is written down, and goes nowhere but to the server itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_OPTION = "--api-key"  # vllm, sglang, llama-server and xllamacpp's alike
_VARIABLES = ("VLLM_API_KEY", "LLAMA_API_KEY")  # vllm/envs.py; llama.cpp common/arg.cpp


def api_key(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    """One that it accepts; None where it accepts everybody, or where that cannot be told.

    Of an option that is given twice (in the profile and after --) the last counts: for argparse it replaces the first,
    llama.cpp takes both.
    """
    given = None
    for position, token in enumerate(argv):
        name, equals, value = token.partition("=")
        if name == _OPTION:
            given = value if equals else argv[position + 1] if position + 1 < len(argv) else ""
    if given is not None:
        return given.split(",")[0] or None  # llama.cpp takes several, with commas
    return next((env[name] for name in _VARIABLES if env.get(name)), None)
