"""Schema 1 of a profile: the keys, their types and their defaults. Frozen; reading files is `launcher.profile.load`'s job.

Later versions only add keys. Durations become seconds, sizes become bytes; numbers in `args` keep their spelling as
text (`3.10`, `1e-5`), so that argv says what the file says.
"""

from __future__ import annotations

from typing import Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field

EngineName = Literal["sglang", "vllm", "llamacpp", "command"]

# What an option of the engine may hold: true or false, text (numbers keep their spelling), a list, a mapping (JSON).
ArgumentValue = Union[bool, str, list[Any], dict[str, Any]]


class Part(BaseModel):
    """A mapping in a profile: unknown keys are errors, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TargetWish(Part):
    """Whose Python (or program) serves: exactly one of the three."""

    venv: str | None = None  # any prefix with bin/python, conda too
    python: str | None = None  # a file, or "self"
    program: str | None = None  # a llama-server


class Gpus(Part):
    """What is asserted of the GPUs before the start."""

    count: int | None = Field(default=None, ge=0)
    capability: tuple[str, ...] = ()  # compute capabilities, "12.0"
    select: tuple[str, ...] = ()  # PCI-order indices, UUIDs or their beginnings, names


class Cuda(Part):
    """`toolkit`: auto, keep, wheel, provision, hide or an absolute path. `arch`: compute capabilities to build for."""

    toolkit: str = "auto"
    arch: tuple[str, ...] = ()


class Environment(Part):
    """The profile's layer of the child's environment. `passed` is the key `pass` (names and globs)."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    set: dict[str, str] = Field(default_factory=dict)
    passed: tuple[str, ...] = Field(default=(), alias="pass")
    unset: tuple[str, ...] = ()
    path: tuple[str, ...] = ()  # extra PATH directories, after the toolkit's and the target's


class Ready(Part):
    """How readiness is known. `path` is joined to the server's own address, `url` stands alone. Times in seconds."""

    path: str | None = None
    url: str | None = None
    generate: bool = False
    stall: float | None = None
    timeout: float = 0.0  # 0: no deadline while it lives


class Live(Part):
    """Liveness after READY (read, not acted on yet)."""

    stall: float | None = None
    generate: bool = False


class Stop(Part):
    """`grace`: seconds between the leader's SIGTERM and the sweep of what is left."""

    grace: float = Field(default=30.0, ge=0)


class Restart(Part):
    """Read, not acted on yet: until then a crash ends the run."""

    policy: Literal["never", "on-failure"] = "never"
    max: int | None = Field(default=None, ge=0)
    delay: float | None = None


class Log(Part):
    """Read, not acted on yet. `rotate` in bytes."""

    rotate: int | None = None
    keep: int | None = Field(default=None, ge=0)


class Profile(Part):
    """What was asked for. Everything but schema, name and engine has a default that suits the engine."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_version: Literal[1] = Field(alias="schema")
    name: str
    description: str = ""
    engine: EngineName
    extends: tuple[str, ...] = ()
    requires: dict[str, str] = Field(default_factory=dict)  # distribution -> specifier
    target: TargetWish | None = None
    model: str | None = None
    command: tuple[str, ...] = ()
    args: dict[str, ArgumentValue] = Field(default_factory=dict)
    gpus: Gpus = Gpus()
    cuda: Cuda = Cuda()
    env: Environment = Environment()
    cwd: str | None = None
    ready: Ready | Literal["none"] | None = None  # None: the engine's default
    live: Live | None = None
    stop: Stop = Stop()
    restart: Restart = Restart()
    log: Log = Log()
