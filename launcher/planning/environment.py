"""The child's whole environment, from nothing: layers in the contract's order, each variable with origin and reason.

Later wins: the caller's allow-list, `env.pass`, CUDA and engine (with the repairs), `env.set`/`env.unset`, the
operator's `--keep-env` and `--env`. Where two layers disagree there is a finding, never a silent overwrite. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from launcher import findings
from launcher.model import Change, Finding, Request, Step
from launcher.planning import allowed, library_path
from launcher.planning.repairs import CONSTANT
from launcher.secrets import MASK, is_secret_name, url_users
from launcher.situation import Situation
from launcher.variables import RESERVED, must_not_be_empty

REPAIRED = frozenset(CONSTANT) | {"HOME", "USER", "LOGNAME", "VIRTUAL_ENV", "NO_PROXY", "no_proxy", "LD_LIBRARY_PATH"}


@dataclass
class Draft:
    """The environment while it is made: what each variable came to, and what was said on the way."""

    changes: dict[str, Change] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def values(self) -> dict[str, str]:
        """What the child would get now."""
        return {name: change.value for name, change in self.changes.items() if change.value is not None}

    def take(self, items: Iterable[Change | Step | Finding]) -> None:
        """Adds a layer's items; a variable that had another value is a finding, unless a repair says why itself."""
        for item in items:
            if isinstance(item, Step):
                self.steps.append(item)
            elif isinstance(item, Finding):
                self.findings.append(item)
            else:
                self.findings.extend(_disagreement(self.changes.get(item.name), item))
                self.changes[item.name] = item


def _disagreement(before: Change | None, after: Change) -> Iterator[Finding]:
    if before is None or before.value is None or before.value == after.value or after.origin == "repair":
        return
    name = after.name
    text = (
        f"{name}: {_shown(after)} ({after.origin}) replaces {_shown(before)} ({before.origin})."
        if after.value is not None
        else f"{name}: {_shown(before)} ({before.origin}) is removed ({after.because})."
    )
    if name in REPAIRED and after.origin in ("profile", "operator"):
        yield findings.warning("repair-overridden", f"{text} gpulaunch had set it because {before.because}.")
    else:
        yield findings.note("value-replaced", text)


def _shown(change: Change) -> str:
    return MASK if change.secret else repr(change.value)


def passed(name: str, value: str, origin: str, because: str) -> Change:
    """A variable that goes through as it is."""
    return Change(name=name, action="pass", value=value, origin=origin, because=because, secret=is_secret(name, value))


def is_secret(name: str, value: str) -> bool:
    """By its name, or because a URL in it has a user part."""
    return is_secret_name(name) or bool(url_users(value))


def from_caller(situation: Situation) -> Iterator[Change | Finding]:
    """Layer 1: every variable of the caller's, passed or dropped with the reason."""
    for name, value in sorted(situation.facts.caller.environ.items()):
        why = allowed.reason(name, allowed.ALLOWED)
        if name == "LD_LIBRARY_PATH":
            yield from _library_path(situation, value)
        elif why and value:
            yield passed(name, value, "caller", why)
        else:
            yield _dropped(name, value, "empty" if why else None)


def _dropped(name: str, value: str, because: str | None = None) -> Change:
    if because is None and allowed.is_service_link(name, value):
        because = "a service link of Kubernetes, not a setting"
    because = because or allowed.reason(name, allowed.KNOWN_TROUBLE) or "not on the allow-list"
    if allowed.is_read_by_engines(name) and name not in RESERVED:
        because += f"; --keep-env {name} keeps it"
    return Change(name=name, action="drop", value=None, origin="caller", because=because)


def _library_path(situation: Situation, value: str) -> Iterator[Change]:
    mounts = library_path.driver_mounts(situation)
    if mounts:
        left = library_path.told(value, situation)
        why = "the driver's own folders" + (f"; left out: {left}" if left else "")
        yield Change(
            name="LD_LIBRARY_PATH",
            action="pass" if mounts == value else "set",
            value=mounts,
            origin="caller",
            because=why,
        )
    else:
        yield _dropped("LD_LIBRARY_PATH", value, library_path.told(value, situation) or "empty")


def from_pass(situation: Situation) -> Iterator[Change | Finding]:
    """Layer 2: what the profile asks to pass, names and globs."""
    for name, value in sorted(situation.facts.caller.environ.items()):
        pattern = next((wish for wish in situation.profile.env.passed if fnmatchcase(name, wish)), None)
        if pattern is None or name in RESERVED:
            continue
        because = f"the profile passes it (env.pass: {pattern})"
        if allowed.is_service_link(name, value):
            continue
        if name == "LD_LIBRARY_PATH":
            yield from _passed_library_path(situation, value, because)
        elif not value and must_not_be_empty(name):
            yield _dropped(name, value, "empty, which libraries take for a broken value")
        else:
            yield passed(name, value, "profile", because)


def _passed_library_path(situation: Situation, value: str, because: str) -> Iterator[Change | Finding]:
    kept, out = library_path.without_toolkits(value, situation)
    if kept:
        yield Change(name="LD_LIBRARY_PATH", action="set", value=kept, origin="profile", because=because)
    if out:
        yield findings.note(
            "library-path-filtered",
            "LD_LIBRARY_PATH is passed without some of its folders: "
            f"{'; '.join(f'{entry.path or repr(entry.path)} {entry.out}' for entry in out)}.",
        )


def from_profile(situation: Situation) -> Iterator[Change | Finding]:
    """Layer 4: what the profile sets and removes."""
    env = situation.profile.env
    for name, value in env.set.items():
        secret = is_secret(name, value) or any(part in value for part in situation.asked.secrets if part)
        yield Change(
            name=name,
            action="set",
            value=value,
            origin="profile",
            because="the profile sets it (env.set)",
            secret=secret,
        )
    for name in env.unset:
        because = "the profile removes it (env.unset)"
        yield Change(name=name, action="drop", value=None, origin="profile", because=because)


def from_operator(situation: Situation, request: Request) -> Iterator[Change | Finding]:
    """Layer 5: what was said once, on the command line."""
    environ: Mapping[str, str] = situation.facts.caller.environ
    for name in request.keep_env:
        if name in RESERVED:
            yield _reserved("--keep-env", name)
        elif name not in environ:
            yield findings.warning("keep-env-unset", f"--keep-env {name}: the caller has no such variable.")
        else:
            yield passed(name, environ[name], "operator", "--keep-env")
    for name, value in request.env:
        if name in RESERVED:
            yield _reserved("--env", name)
        elif not value and must_not_be_empty(name):
            yield findings.error(
                "empty-value",
                f"--env {name}= is empty, which libraries take for a broken value.",
                fix="Give it a value; without the option it is not set.",
            )
        else:
            yield Change(
                name=name, action="set", value=value, origin="operator", because="--env", secret=is_secret(name, value)
            )


def _reserved(option: str, name: str) -> Finding:
    return findings.error(
        "reserved-variable-asked",
        f"{option} {name}: this variable is gpulaunch's own.",
        fix=f"Leave it out. {RESERVED[name]}",
    )
