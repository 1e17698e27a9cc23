"""SGLang, by its launch_server door, which every release from 0.5.10 to 0.5.23 has."""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.engines import arguments
from launcher.model import Change, Endpoint, Finding, Step
from launcher.situation import Situation

NAME = "sglang"
PACKAGES = ("sglang",)
USUAL = ("torch", "triton", "flashinfer-python")
READY_PATH = "/health"  # generates one token itself (0.5.23)
NEEDS_TARGET = True


def argv(situation: Situation) -> tuple[str, ...]:
    """`python -m sglang.launch_server --model-path MODEL ...`"""
    profile = situation.profile
    python = situation.target.path if situation.target else "python3"
    model = ("--model-path", profile.model) if profile.model else ()
    return (python, "-m", "sglang.launch_server", *model, *arguments.tokens(profile.args, negate=False))


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """Nothing but a word on options that are false: its parser has no `--no-` forms for most of them."""
    for name in arguments.left_out(situation.profile.args):
        yield findings.note(
            "false-left-out",
            f"args.{name} is false: the option is left out, which is how sglang says no.",
            where=situation.asked.where(f"args.{name}"),
        )


def endpoint(argv: tuple[str, ...], situation: Situation) -> Endpoint | None:
    """Defaults of `server_args.py`: 127.0.0.1:30000."""
    return arguments.listens_at(argv, host="127.0.0.1", port=30000)
