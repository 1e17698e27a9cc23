"""Schema 1 of a profile: the keys, their types and their defaults. Frozen; reading files is `launcher.profile.load`.

Later versions only add keys. Durations become seconds, sizes become bytes; numbers in `args` keep their spelling as
text (`3.10`, `1e-5`), so that argv says what the file says. Messages of the validators are ours: "what; what to do".
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from launcher.profile.scalars import Number
from launcher.profile.units import seconds, size

EngineName = Literal["sglang", "vllm", "llamacpp", "command"]

# What an option of the engine may hold: true or false, text (numbers keep their spelling), a list, a mapping (JSON).
ArgumentValue = bool | str | list[Any] | dict[str, Any]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_CAPABILITY = re.compile(r"[0-9]{1,2}\.[0-9]")
_SUFFIXED = re.compile(r"[0-9]{1,2}\.[0-9][a-z]")

# Variables that must name one toolkit together, and the key to use instead.
RESERVED_VARIABLES = {
    "PATH": "env.path adds folders",
    "CUDA_HOME": "cuda.toolkit names a toolkit",
    "CUDA_PATH": "cuda.toolkit names a toolkit",
    "CUDA_LIB_PATH": "cuda.toolkit names a toolkit",
}
# An empty value of these is a broken one for the library that reads it.
NEVER_EMPTY = re.compile(r".*_CUDA_ARCH_LIST|TRITON_PTXAS.*_PATH|CUDACXX|CUDA_.*_PATH")


class _Missing(ValueError):
    """Wrong, with what to do: the text is "what; what to do"."""


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None or not isinstance(value, str):
        raise _Missing(f"expected text, got {_called(value)}; {_quote(value)}")
    if "\0" in value:
        raise _Missing("holds a NUL character; remove it")
    return str(value)


def _quote(value: Any) -> str:
    return f'write "{str(value).lower()}"' if isinstance(value, bool) else "write one word or a quoted text"


def _called(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    kinds = {dict: "a mapping", list: "a list", type(None): "null"}
    return kinds.get(type(value), "text")


def _whole(value: Any) -> int:
    if isinstance(value, str) and value.isdigit():
        return int(value)
    raise _Missing(f"expected a whole number, got {_called(value)}; write one, such as 8")


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _Missing(f"expected true or false, got {_called(value)}; write true or false")


def _duration(value: Any) -> float:
    try:
        return seconds(_text(value))
    except ValueError as error:
        raise _Missing(str(error)) from None


def _bytes(value: Any) -> int:
    try:
        return size(_text(value))
    except ValueError as error:
        raise _Missing(str(error)) from None


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _Missing(f"expected a list, got {_called(value)}; write [A, B]")
    return tuple(_text(entry) for entry in value)


def _one_or_more(value: Any) -> tuple[str, ...]:
    return _texts(value if isinstance(value, list) else [value])


def _capability(value: Any) -> tuple[str, ...]:
    found = _one_or_more(value)
    for entry in found:
        if _SUFFIXED.fullmatch(entry):
            raise _Missing(f"{entry} has a suffix; write {entry[:-1]}, each library gets the form that it needs")
        if not _CAPABILITY.fullmatch(entry):
            raise _Missing(f"{entry} is no compute capability; write it as MAJOR.MINOR, such as 12.0")
    return found


_TEXTS = {"type": "array", "items": {"type": "string"}}
_ONE_OR_MORE = {"anyOf": [{"type": ["string", "number"]}, {"type": "array", "items": {"type": ["string", "number"]}}]}

Text = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": ["string", "number"]})]
Whole = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0})]
Flag = Annotated[bool, BeforeValidator(_flag)]
Seconds = Annotated[
    float, BeforeValidator(_duration), WithJsonSchema({"type": ["string", "integer"], "examples": ["60s", "20m"]})
]
Bytes = Annotated[int, BeforeValidator(_bytes), WithJsonSchema({"type": ["string", "integer"], "examples": ["64MiB"]})]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts), WithJsonSchema(_TEXTS)]
Selection = Annotated[tuple[str, ...], BeforeValidator(_one_or_more), WithJsonSchema(_ONE_OR_MORE)]
Capabilities = Annotated[tuple[str, ...], BeforeValidator(_capability), WithJsonSchema(_ONE_OR_MORE)]


def _variable(name: Any) -> str:
    if name in RESERVED_VARIABLES:
        raise _Missing(f"{name} is gpulaunch's own; {RESERVED_VARIABLES[name]}")
    if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
        raise _Missing(f"{name!r} is no name of a variable; use letters, digits and _")
    return name


def _option(name: Any) -> str:
    """An option by its long name; `_` and `-` mean the same to both engines."""
    if not isinstance(name, str) or not _OPTION.fullmatch(name):
        raise _Missing(f"{name!r} is no option; write its long name without dashes in front")
    if name == "config":
        raise _Missing("config would read options behind the profile's back; write them here")
    return name.replace("_", "-")


def _options(value: Any) -> Any:
    if isinstance(value, dict):
        kebab = [str(name).replace("_", "-") for name in value]
        twice = sorted({name for name in kebab if kebab.count(name) > 1})
        if twice:
            raise _Missing(f"{', '.join(twice)} stands twice, with - and with _; keep one")
    return value


def _argument(value: Any) -> Any:
    if value is None:
        raise _Missing("is null, which removes a key of a parent; leave it out")
    return value


VariableName = Annotated[str, BeforeValidator(_variable)]
Arguments = Annotated[
    dict[Annotated[str, BeforeValidator(_option)], Annotated[Any, BeforeValidator(_argument)]],
    BeforeValidator(_options),
    WithJsonSchema({
        "type": "object",
        "additionalProperties": {"type": ["boolean", "string", "number", "array", "object"]},
    }),
]  # fmt: skip


class Part(BaseModel):
    """A mapping in a profile: unknown keys are errors, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class TargetWish(Part):
    """Whose Python (or program) serves: exactly one of the three."""

    venv: Text | None = Field(default=None, description="Any prefix with bin/python, conda too.")
    python: Text | None = Field(default=None, description='A Python, or "self": the one that runs gpulaunch.')
    program: Text | None = Field(default=None, description="A server binary such as llama-server.")

    @model_validator(mode="after")
    def _exactly_one(self) -> TargetWish:
        named = [name for name in ("venv", "python", "program") if getattr(self, name) is not None]
        if len(named) != 1:
            what = f"names {' and '.join(named)}" if named else "names nothing"
            raise _Missing(f"{what}; write one of {{venv: DIR}}, {{python: FILE}}, {{python: self}}, {{program: FILE}}")
        return self


class Gpus(Part):
    """What is asserted of the GPUs before the start."""

    count: Whole | None = Field(default=None, description="At least so many visible GPUs.")
    capability: Capabilities = Field(default=(), description="Compute capability of every GPU, such as 12.0.")
    select: Selection = Field(default=(), description="Indices in PCI order, UUIDs or their beginnings, names.")


class Cuda(Part):
    """Which toolkit, and for which compute capabilities kernels are built."""

    toolkit: Text = Field(default="auto", description="auto, keep, wheel, provision, hide, or an absolute path.")
    arch: Capabilities = Field(default=(), description="Defaults to gpus.capability, else to what the GPUs are.")

    @field_validator("toolkit")
    @classmethod
    def _known_word(cls, value: str) -> str:
        words = ("auto", "keep", "wheel", "provision", "hide")
        if value not in words and not value.startswith("/"):
            raise _Missing(f"{value!r} is no choice; write one of {', '.join(words)}, or an absolute path")
        return value


class Environment(Part):
    """The profile's layer of the child's environment."""

    set: dict[VariableName, Text] = Field(default_factory=dict, description="Variables with their values.")
    passed: Texts = Field(default=(), alias="pass", description="Names and globs of the caller's variables to pass.")
    unset: Texts = Field(default=(), description="Variables to remove.")
    path: Texts = Field(default=(), description="Extra folders on PATH, after the toolkit's and the target's.")

    @field_validator("set")
    @classmethod
    def _sensible(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not text and NEVER_EMPTY.fullmatch(name):
                raise _Missing(f"{name} is empty, which its library takes for a broken value; use env.unset: [{name}]")
        return value

    @field_validator("passed")
    @classmethod
    def _passable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name == "*":
                raise _Missing('"*" would copy the caller\'s whole environment; name what is needed, globs like NCCL_*')
            if name in RESERVED_VARIABLES:
                raise _Missing(f"{name} is gpulaunch's own; {RESERVED_VARIABLES[name]}")
        return value

    @field_validator("path")
    @classmethod
    def _absolute(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for entry in value:
            if not entry.startswith("/"):
                raise _Missing(f"{entry or 'an empty entry'} is not absolute; write the whole path")
        return value


class Ready(Part):
    """How readiness is known: a path of the server's own address, or a URL."""

    path: Text | None = Field(default=None, description="Joined to the server's address; must return 2xx.")
    url: Text | None = Field(default=None, description="A whole URL; must return 2xx.")
    generate: Flag = Field(default=False, description="Ready only after one generated token.")
    stall: Seconds | None = Field(default=None, description="Give up without any progress for so long.")
    timeout: Seconds = Field(default=0.0, description="Give up after so long in any case; 0: never.")

    @model_validator(mode="after")
    def _one_address(self) -> Ready:
        if self.path is not None and self.url is not None:
            raise _Missing("has both path and url; keep one")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise _Missing("url must begin with http:// or https://; write the whole URL")
        return self


class Live(Part):
    """Liveness after READY."""

    stall: Seconds | None = None
    generate: Flag = False


class Stop(Part):
    """How it is stopped."""

    grace: Seconds = Field(default=30.0, description="Between the leader's SIGTERM and the sweep of what is left.")


def _policy(value: Any) -> Any:
    if value in ("always", "no", False) or (isinstance(value, str) and value not in ("never", "on-failure")):
        raise _Missing(f"{_shown(value)} is no policy; write never or on-failure")
    return value


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Restart(Part):
    """What happens after an unasked end."""

    policy: Annotated[Literal["never", "on-failure"], BeforeValidator(_policy)] = "never"
    max: Whole | None = None
    delay: Seconds | None = None


class Log(Part):
    """How the log is kept."""

    rotate: Bytes | None = None
    keep: Whole | None = None


def _ready(value: Any) -> Any:
    if isinstance(value, (dict, Ready)) or value == "none":
        return value
    raise _Missing(f"expected none or a mapping, got {_called(value)}; write none, {{path: /health}} or {{url: URL}}")


def _version(value: Any) -> int:
    if value != "1":
        raise _Missing(f"this gpulaunch knows schema 1, not {_shown(value)}; write schema: 1, or upgrade gpulaunch")
    return 1


def _parents(value: Any) -> tuple[str, ...]:
    return _one_or_more(value)


class Profile(Part):
    """What was asked for. Everything but schema, name and engine has a default that suits the engine."""

    schema_version: Annotated[int, BeforeValidator(_version), WithJsonSchema({"const": 1})] = Field(alias="schema")
    name: Text = Field(description="As it is looked up: NAME.yaml.")
    description: Text = ""
    engine: EngineName
    extends: Annotated[tuple[str, ...], BeforeValidator(_parents), WithJsonSchema(_TEXTS)] = Field(
        default=(), description="Other profiles, by name or path; a later one wins, this one wins over all."
    )
    requires: dict[str, Text] = Field(default_factory=dict, description="Distribution to version specifier.")
    target: TargetWish | None = None
    model: Text | None = None
    command: Texts = Field(default=(), description="For engine: command, the program and its arguments.")
    args: Arguments = Field(default_factory=dict, description="The engine's own long options, without dashes in front.")
    gpus: Gpus = Gpus()
    cuda: Cuda = Cuda()
    env: Environment = Environment()
    cwd: Text | None = None
    ready: Annotated[Ready | Literal["none"] | None, BeforeValidator(_ready)] = Field(
        default=None, description="none, or how readiness is known; the engine's own way by default."
    )
    live: Live | None = None
    stop: Stop = Stop()
    restart: Restart = Restart()
    log: Log = Log()

    @field_validator("name")
    @classmethod
    def _a_word(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise _Missing(f"{value!r} is no name; use letters, digits, dots, dashes and underscores")
        return value

    @field_validator("requires")
    @classmethod
    def _specifiers(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            try:
                SpecifierSet(text)
            except InvalidSpecifier:
                raise _Missing(f"{name}: {text!r} is no version specifier; write one such as >=0.5.14,<0.6") from None
        return value


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a profile, for editors (`# yaml-language-server: $schema=...`)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Profile.model_json_schema(by_alias=True)}


__all__ = ["ArgumentValue", "EngineName", "Number", "Profile", "Ready", "json_schema"]
