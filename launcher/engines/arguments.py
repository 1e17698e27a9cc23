"""`args` of a profile to tokens, and options read back from a finished argv. Pure.

Tokens are always separate (`--port 8000`): vllm and sglang both look for `--config` as a token of its own, and a
mapping is one token of JSON that no shell ever sees (vllm-project/vllm#43252, eugr/spark-vllm-docker#111).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from launcher.model import Endpoint
from launcher.profile.scalars import Number
from launcher.profile.schema import ArgumentValue


def tokens(args: Mapping[str, ArgumentValue], *, negate: bool) -> Iterator[str]:
    """Every option in the profile's order.

    true is the bare option; false is `--no-OPTION` where the engine's parser takes it (`negate`), else nothing; a
    list repeats its values after the option; a mapping, also inside a list, is JSON.
    """
    for name, value in args.items():
        option = f"--{name}"
        if value is True:
            yield option
        elif value is False:
            if negate:
                yield f"--no-{name}"
        elif isinstance(value, list):
            yield option
            yield from (_token(entry) for entry in value)
        else:
            yield option
            yield _token(value)


def left_out(args: Mapping[str, ArgumentValue]) -> tuple[str, ...]:
    """The options that are false: an engine without `--no-` forms gets nothing for them."""
    return tuple(name for name, value in args.items() if value is False)


def _token(value: object) -> str:
    return value if isinstance(value, str) else to_json(value)


def to_json(value: object) -> str:
    """JSON in one line; numbers keep the spelling they have in the profile."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(name))}: {to_json(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(to_json(entry) for entry in value) + "]"
    return json.dumps(value)


def option(argv: Sequence[str], *names: str) -> str | None:
    """The value of an option; given twice, the last one counts, as in argparse. `--name=value` counts too."""
    found = None
    for position, token in enumerate(argv):
        name, equals, value = token.partition("=")
        if name.replace("_", "-") not in names:
            continue
        if equals:
            found = value
        elif position + 1 < len(argv):
            found = argv[position + 1]
    return found


def listens_at(argv: Sequence[str], *, host: str, port: int) -> Endpoint | None:
    """The endpoint of `--host` and `--port`, with the engine's defaults; None for a port that is no number."""
    said = option(argv, "--port") or str(port)
    if not said.isdigit() or not 0 < int(said) < 65536:
        return None
    return Endpoint(host=option(argv, "--host") or host, port=int(said))
