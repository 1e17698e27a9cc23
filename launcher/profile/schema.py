"""Schema 1 of a profile: the keys, their types and their defaults. Frozen; reading files is `launcher.profile.load`.

Later versions only add keys. Durations become seconds, sizes become bytes; numbers in `args` keep their spelling as
text (`3.10`, `1e-5`), so that argv says what the file says. What several keys must agree on is in
`launcher.profile.rules`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from launcher.profile import editors
from launcher.profile.kinds import (
    AnyText,
    Bytes,
    Capabilities,
    Count,
    Distribution,
    Flag,
    Folders,
    LogFormat,
    Name,
    Parents,
    PassedNames,
    Path,
    Policy,
    Seconds,
    Selection,
    Specifier,
    Texts,
    Toolkit,
    Url,
    VariableName,
    VariableNames,
    Version,
    Whole,
    Wire,
    Word,
    called,
    wrong,
)
from launcher.profile.scalars import Number

EngineName = Literal["sglang", "vllm", "llamacpp", "transformers", "command"]

# What an option of the engine may hold: true or false, text (numbers keep their spelling), a list, a mapping (JSON).
ArgumentValue = bool | str | list[Any] | dict[str, Any]

# Judged by `launcher.profile.options`, which knows the place of everything inside.
Arguments = Annotated[
    dict[str, Any],
    WithJsonSchema({
        "type": "object",
        "additionalProperties": {"type": ["boolean", "string", "number", "array", "object"]},
    }),
]  # fmt: skip


class Part(BaseModel):
    """A mapping in a profile: unknown keys are errors, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TargetWish(Part):
    """Whose Python (or program) serves: exactly one of the three."""

    venv: Word | None = Field(default=None, description="Any prefix with bin/python, conda too.")
    python: Word | None = Field(default=None, description='A Python, or "self": the one that runs gpulaunch.')
    program: Word | None = Field(default=None, description="A server binary such as llama-server.")


class Gpus(Part):
    """What is asserted of the GPUs before the start."""

    count: Count | None = Field(default=None, description="At least so many visible GPUs.")
    capability: Capabilities = Field(default=(), description="Compute capability of every GPU, such as 12.0.")
    select: Selection = Field(default=(), description="Indices in PCI order, UUIDs or their beginnings, names.")
    wait: Seconds = Field(
        default=0.0, description="Wait so long for GPUs and driver to appear, as after a boot; 0: not at all."
    )


class Cuda(Part):
    """Which toolkit, and for which compute capabilities kernels are built."""

    toolkit: Toolkit = Field(default="auto", description="auto, keep, wheel, provision, hide, or an absolute path.")
    arch: Capabilities = Field(default=(), description="Defaults to gpus.capability, else to what the GPUs are.")


class Environment(Part):
    """The profile's layer of the child's environment."""

    set: dict[VariableName, AnyText] = Field(default_factory=dict, description="Variables with their values.")
    passed: PassedNames = Field(
        default=(), alias="pass", description="Names and globs of the caller's variables to pass."
    )
    unset: VariableNames = Field(default=(), description="Variables to remove.")
    path: Folders = Field(default=(), description="Extra folders on PATH, after the toolkit's and the target's.")


class Ready(Part):
    """How readiness is known: a path of the server's own address, or a URL."""

    path: Path | None = Field(default=None, description="Joined to the server's address; must return 2xx.")
    url: Url | None = Field(default=None, description="A whole URL; must return 2xx.")
    generate: Flag = Field(default=False, description="Ready only after one generated token.")
    stall: Seconds = Field(
        default=0.0, description="Give up without any progress of log or counters for so long; 0: never."
    )
    timeout: Seconds = Field(default=0.0, description="Give up after so long in any case; 0: never.")


class Live(Part):
    """Whether a server that is ready still makes progress."""

    stall: Seconds = Field(
        default=300.0, description="With requests running and no token for so long it counts as hung."
    )
    generate: Flag = Field(default=False, description="Ask an idle server for a token now and then.")


class Stop(Part):
    """How it is stopped."""

    grace: Seconds = Field(default=30.0, description="Between the leader's SIGTERM and the sweep of what is left.")


class Restart(Part):
    """What happens after an unasked end."""

    policy: Policy = Field(default="never", description="never, or on-failure: any end that nobody asked for.")
    max: Whole = Field(default=5, description="Give up after so many.")
    delay: Seconds = Field(default=2.0, description="Before the first one; later ones wait longer.")


class Log(Part):
    """How the server's output is kept."""

    rotate: Bytes = Field(default=64 << 20, description="Begin a new file at this size.")
    keep: Count = Field(default=8, description="So many files of one run.")
    total: Bytes = Field(default=4 << 30, description="So much for all runs of this profile; 0: no bound.")
    age: Seconds = Field(default=0.0, description="Logs of ended runs older than this are removed; 0: none.")
    format: LogFormat = Field(default="text", description="text or json: one object a line.")
    terminal: Wire = Field(default="pipe", description="pipe, or pty: the server believes that it has a terminal.")


def _ready(value: Any) -> str:
    """Which member of the union is meant."""
    if isinstance(value, (dict, Ready)):
        return "mapping"
    return "word"


def _none(value: Any) -> Any:
    if value != "none":
        raise wrong(f"expected none or a mapping, got {called(value)}", "Write none, {path: /health} or {url: URL}.")
    return value


Readiness = Annotated[
    Annotated[Ready, Tag("mapping")]
    | Annotated[Literal["none"], BeforeValidator(_none), WithJsonSchema({"const": "none"}), Tag("word")],
    Discriminator(_ready),
]


class Profile(Part):
    """What was asked for. Everything but schema, name and engine has a default that suits the engine."""

    schema_version: Version = Field(alias="schema", description="The version of this format.")
    name: Name = Field(description="As it is looked up: NAME.yaml.")
    description: AnyText = Field(default="", description="One line for `gpulaunch profiles list`.")
    engine: EngineName = Field(description="Which server; command runs any other.")
    extends: Parents = Field(
        default=(), description="Other profiles, by name or path; a later one wins, this one wins over all."
    )
    requires: dict[Distribution, Specifier] = Field(
        default_factory=dict, description="Packages that the target must hold, with version specifiers."
    )
    target: TargetWish | None = None
    model: Word | None = Field(default=None, description="A path, or a name on a hub.")
    command: Texts = Field(default=(), description="For engine: command, the program and its arguments.")
    args: Arguments = Field(default_factory=dict, description="The engine's own long options, without dashes in front.")
    gpus: Gpus = Gpus()
    cuda: Cuda = Cuda()
    env: Environment = Environment()
    cwd: Word | None = Field(
        default=None, description="Default: the folder of a profile given by path, else the caller's."
    )
    ready: Readiness | None = Field(
        default=None, description="none, or how readiness is known; the engine's own way by default."
    )
    live: Live | None = None
    stop: Stop = Stop()
    restart: Restart = Restart()
    log: Log = Log()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a profile, for editors (`# yaml-language-server: $schema=...`)."""
    return editors.schema(Profile.model_json_schema(by_alias=True))


__all__ = ["ArgumentValue", "EngineName", "Number", "Profile", "Ready", "json_schema"]
