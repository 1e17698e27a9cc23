"""Plan: what we would do, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from launcher.model.facts import Gpu, Limit
from launcher.model.finding import Finding, Severity
from launcher.model.lookup import Prediction


@dataclass(frozen=True, kw_only=True)
class Change:
    """What happens to one variable. `value` None: dropped. `secret`: shown as *** everywhere."""

    name: str
    action: Literal["set", "pass", "drop"]
    value: str | None
    origin: str  # caller, repair, cuda, engine, profile, operator, run
    because: str
    secret: bool = False


@dataclass(frozen=True, kw_only=True)
class Step:
    """Something that must exist before exec: idempotent and atomic. Carried out by `launcher.prepare`.

    Actions: `folder` (make a private folder), `view` (complete the toolkit `source` by links), `provision` (make the
    toolkit of the release `source` from wheels), `hide-root` (a root with lib/ and no compiler), `links` (a folder of
    links to what is in `source`, without the names in `leave_out`), `tiny-model` (a tiny GGUF),
    `move-aside` (a cached build into a folder beside its own).
    """

    action: Literal["folder", "view", "hide-root", "links", "tiny-model", "provision", "move-aside"]
    path: str
    because: str
    source: str | None = None
    leave_out: tuple[str, ...] = ()


Strategy = Literal["keep", "redirect", "wheel", "provisioned", "hide", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement of one candidate root, as a sentence with the numbers that decided it."""

    root: str
    fits: bool
    because: str  # all objections, joined by "; ", the weightiest first

    @property
    def main_reason(self) -> str:
        """The weightiest objection alone."""
        return self.because.partition("; ")[0]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The one named root. `root` is what CUDA_HOME will say; `release` None for hide.

    `source` is the true root behind it, another one where `root` is a view of it.
    """

    root: str
    source: str | None = None
    release: str | None
    strategy: Strategy
    how: str
    because: str
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where the server listens, read from the final argv."""

    host: str
    port: int

    @property
    def probe_host(self) -> str:
        """A wildcard is no address to connect to: it is probed on loopback."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1", "*": "127.0.0.1"}.get(self.host, self.host)


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """How we know that it answers: the URL must return a 2xx, then, if asked, the server must generate one token.

    In seconds: `timeout` in any case, `stall` without any progress of log or counters; 0: none while it lives.
    """

    url: str
    timeout: float = 0.0
    stall: float = 0.0
    generate: bool = False


@dataclass(frozen=True, kw_only=True)
class Liveness:
    """How we know that a ready server still works: requests run, and no token came for `stall` seconds: it hangs.

    `generate` asks an idle one for a token now and then. `url` is the server's own address, without a path.
    """

    url: str
    stall: float
    generate: bool = False


@dataclass(frozen=True, kw_only=True)
class Restarts:
    """What follows an end that nobody asked for: at most `max` new starts, the first after `delay` seconds.

    `left_to` says who starts it again instead of us, empty for nobody.
    """

    policy: Literal["never", "on-failure"] = "never"
    max: int = 5
    delay: float = 2.0
    left_to: str = ""


@dataclass(frozen=True, kw_only=True)
class Logging:
    """How the server's output is kept: a new file at `rotate` bytes, `keep` files of a run; of all runs of a profile
    at most `total` bytes and none older than `age` seconds (0: no bound). `terminal` pty: the server sees a terminal.
    """

    rotate: int = 64 << 20
    keep: int = 8
    total: int = 4 << 30
    age: float = 0.0
    format: Literal["text", "json"] = "text"
    terminal: Literal["pipe", "pty"] = "pipe"


@dataclass(frozen=True, kw_only=True)
class TargetUsed:
    """Which target the plan is for, and how it was found."""

    python: str | None
    program: str | None
    how: str


@dataclass(frozen=True, kw_only=True)
class PathEntry:
    """One directory of the child's PATH and why it is there."""

    path: str
    because: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What we would do and why. Blocked if any finding is an error."""

    profile: str
    file: str
    engine: str
    target: TargetUsed | None
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    changes: tuple[Change, ...]
    prepare: tuple[Step, ...]
    toolkit: Choice
    findings: tuple[Finding, ...]
    endpoint: Endpoint | None = None
    ready: Readiness | None = None  # None: `ready: none`, READY right after exec
    grace: float = 30.0  # seconds between the leader's TERM and the sweep
    live: Liveness | None = None  # None: nobody asks a server that is ready
    restarts: Restarts = field(default_factory=Restarts)
    logging: Logging = field(default_factory=Logging)
    gpus: tuple[Gpu, ...] | None = None  # those that the server will see; None: could not be told
    limits: tuple[Limit, ...] = ()  # soft limits to set before exec; `hard` as found
    search_path: tuple[PathEntry, ...] = ()  # PATH entry by entry
    predictions: tuple[Prediction, ...] = ()
    secrets: frozenset[str] = frozenset()  # values that are never printed
    secret_arguments: frozenset[int] = frozenset()  # positions in argv that print as ***

    @property
    def blocked(self) -> bool:
        """True if the launch must not happen."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the operator said once, on the command line: it stands above the profile."""

    env: tuple[tuple[str, str], ...] = ()  # --env NAME=VALUE
    keep_env: tuple[str, ...] = ()  # --keep-env NAME
    flags: tuple[str, ...] = ()  # engine flags after --
