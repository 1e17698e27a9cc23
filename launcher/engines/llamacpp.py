"""llama.cpp: its own server binary, or the very same server inside the xllamacpp wheel of a Python target."""

from __future__ import annotations

from collections.abc import Iterator

from launcher.engines import arguments
from launcher.model import Change, Endpoint, Finding, Step
from launcher.situation import Situation

NAME = "llamacpp"
PACKAGES = ("xllamacpp",)
USUAL: tuple[str, ...] = ()
READY_PATH = "/health"  # 503 while it loads
NEEDS_TARGET = False  # then its server is looked up on the planned PATH

TINY = "tiny"


def argv(situation: Situation) -> tuple[str, ...]:
    """`llama-server --model FILE ...`, or our small driver in the target's Python with the same options."""
    model = _model(situation)
    named = ("--model", model) if model else ()
    return (*_program(situation), *named, *arguments.tokens(situation.profile.args, negate=False))


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """`model: tiny` is made before the start."""
    if situation.profile.model == TINY:
        path = _tiny(situation)
        yield Step(action="tiny-model", path=path, because="model: tiny is made on the spot, nothing is downloaded")


def endpoint(argv: tuple[str, ...], situation: Situation) -> Endpoint | None:
    """Defaults of llama-server: 127.0.0.1:8080."""
    return arguments.listens_at(argv, host="127.0.0.1", port=8080)


def _program(situation: Situation) -> tuple[str, ...]:
    target = situation.target
    if target is not None and target.kind == "program":
        return (target.path,)
    if target is None and situation.profile.target is None:
        return ("llama-server",)
    python = target.path if target else "python3"
    return (python, f"{situation.facts.launcher.package}/engines/servers/xllamacpp_server.py")


def _model(situation: Situation) -> str | None:
    return _tiny(situation) if situation.profile.model == TINY else situation.profile.model


def _tiny(situation: Situation) -> str:
    return f"{situation.places.cache}/models/tiny-1.gguf"
