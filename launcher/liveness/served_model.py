"""The name by which requests ask for the server's model, where the server does not say it itself. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def served_model(engine: str, argv: Sequence[str]) -> str | None:
    """None: the first that `/v1/models` names is it.

    Transformers lists the models in the hub's cache there, not the one that it serves (5.24.0,
    `cli/serving/server.py`): one that was asked for by such a name would be loaded beside it.
    """
    if engine != "transformers" or "serve" not in argv:
        return None
    after = argv[argv.index("serve") + 1 :]
    return after[0] if after and not after[0].startswith("-") else None
