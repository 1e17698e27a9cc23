"""Transformers' OpenAI server, by the module behind its `transformers` command (5.0 and later), as with vLLM.

The model is its first word. Without one it answers /health with 200 and has loaded nothing (5.24.0,
`cli/serving/server.py`): ready would mean little.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.engines import arguments
from launcher.model import Change, Endpoint, Finding, Step
from launcher.situation import Situation

NAME = "transformers"
PACKAGES = ("transformers",)
USUAL = ("torch", "triton")
READY_PATH = "/health"  # refused until the model is loaded; 503 once a worker of its continuous batching is dead
NEEDS_TARGET = True

# Without these it raises at the start or when it loads the model (5.24.0, `utils/import_utils.py:is_serve_available`
# and `modeling_utils.py`): what pip install transformers alone leaves out of its extra `serving`.
SERVING = ("accelerate", "fastapi", "openai", "pydantic", "uvicorn")


def argv(situation: Situation) -> tuple[str, ...]:
    """`python -m transformers.cli.transformers serve MODEL ...`; typer, its parser, gives each flag a `--no-OPTION`."""
    profile = situation.profile
    python = situation.target.path if situation.target else "python3"
    model = (profile.model,) if profile.model else ()
    options = arguments.tokens(profile.args, negate=True)
    return (python, "-m", "transformers.cli.transformers", "serve", *model, *options)


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """No variable of its own; a word on a missing model, and on packages that only its server needs."""
    if not situation.profile.model:
        yield findings.warning(
            "model-on-demand",
            "No model is named: transformers loads one with the first request, and is ready before it has any.",
            fix="model: in the profile.",
            where=situation.asked.where("engine"),
        )
    yield from _without_its_extra(situation)


def _without_its_extra(situation: Situation) -> Iterator[Finding]:
    packages = situation.target.packages if situation.target else None
    missing = [name for name in SERVING if name not in packages] if packages and NAME in packages else []
    if missing and situation.target:
        yield findings.error(
            "serving-extra-missing",
            f"{situation.target.path} holds transformers without what its server needs: {', '.join(missing)}.",
            fix=f"{situation.target.path} -m pip install 'transformers[serving]'",
        )


def endpoint(argv: tuple[str, ...], situation: Situation) -> Endpoint | None:
    """Defaults of its `serve` (5.24.0, `cli/serve.py`): localhost:8000."""
    return arguments.listens_at(argv, host="localhost", port=8000)
