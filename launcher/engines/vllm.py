"""vLLM's OpenAI server, by the module behind its `vllm` command, so that no script's shebang decides the Python."""

from __future__ import annotations

from collections.abc import Iterator

from launcher.engines import arguments
from launcher.model import Change, Endpoint, Finding, Step
from launcher.situation import Situation

NAME = "vllm"
PACKAGES = ("vllm",)
USUAL = ("torch", "triton", "flashinfer-python")
READY_PATH = "/health"
NEEDS_TARGET = True


def argv(situation: Situation) -> tuple[str, ...]:
    """`python -m vllm.entrypoints.cli.main serve MODEL ...`; false is `--no-OPTION` (vllm-project/vllm#51401)."""
    profile = situation.profile
    python = situation.target.path if situation.target else "python3"
    model = (profile.model,) if profile.model else ()
    options = arguments.tokens(profile.args, negate=True)
    return (python, "-m", "vllm.entrypoints.cli.main", "serve", *model, *options)


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """Nothing of its own."""
    return iter(())


def endpoint(argv: tuple[str, ...], situation: Situation) -> Endpoint | None:
    """Without --host it binds every address, port 8000 (vllm 0.33.0, `entrypoints/openai/cli_args.py`)."""
    return arguments.listens_at(argv, host="0.0.0.0", port=8000)
