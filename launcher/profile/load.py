"""From a name or path to what was asked, or every error at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from launcher import findings, secrets
from launcher.errors import Refused
from launcher.model import Finding, Severity, Where
from launcher.paths import Places
from launcher.profile import document, safety
from launcher.profile.asked import Asked
from launcher.profile.document import Document
from launcher.profile.expand import expand
from launcher.profile.extends import merged
from launcher.profile.lookup import Located, is_path, locate
from launcher.profile.schema import Profile, Ready
from launcher.profile.sentences import sentences


def load_profile(reference: str, *, environ: Mapping[str, str], places: Places, cwd: str, uid: int) -> Asked:
    """The profile that a name or path means. Raises Refused with all that is wrong (78; 77 where unreadable)."""
    located = locate(reference, places=places, relative_to=cwd)
    whole = merged(located, read=lambda found: read(found, uid=uid), places=places)
    tree, expansion = expand(whole.tree, environ, places.home)
    found = [*located.findings, *whole.findings]
    for key, what, fix in expansion.problems:
        found.append(findings.error("profile-expansion", f"{key}: {what}", fix=fix, where=whole.where(key)))
    profile = _validated(tree, whole, found)
    if profile is not None:
        found += _rules(profile, whole, reference)
        found += _clear_secrets(whole)
        found += _not_yet(profile)
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    if errors or profile is None:
        raise Refused(sorted(errors, key=lambda finding: (finding.file or "", finding.line or 0)))
    return Asked(
        profile=profile,
        file=located.label,
        folder=located.folder,
        lines=whole.lines,
        findings=tuple(found),
        secrets=frozenset(expansion.secrets),
    )


def read(located: Located, *, uid: int) -> Document:
    """One file's document, with the findings about the file itself."""
    text, problems = _text(located.path, located.label)
    if text is None:
        raise Refused(problems)
    parsed = document.parse(text, located.label)
    parsed.findings += safety.check(located.path, located.label, uid=uid)
    return parsed


def _text(path: Path, label: str) -> tuple[str | None, list[Finding]]:
    where = Where(label, None)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        fix = "Correct the path, or name a profile: gpulaunch profiles list."
        return None, [findings.error("profile-not-found", "there is no such file.", fix=fix, where=where)]
    except OSError as error:
        fix = "Let this user read it and its folders."
        what = f"cannot be read: {error.strerror}."
        return None, [findings.error("profile-unreadable", what, fix=fix, where=where)]
    if len(raw) > document.LARGEST:
        fix = "A profile has a few kilobytes; is this the right file?"
        return None, [findings.error("profile-syntax", "is larger than 1 MiB.", fix=fix, where=where)]
    try:
        return raw.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        fix = "Save the file as UTF-8."
        return None, [findings.error("profile-syntax", "this is not UTF-8.", fix=fix, where=Where(label, line))]


def _validated(tree: dict[str, Any], whole: Document, found: list[Finding]) -> Profile | None:
    if not tree and any(finding.severity is Severity.ERROR for finding in found):
        return None
    try:
        return Profile.model_validate(tree)
    except ValidationError as error:
        # A key that was refused while reading is not missing: its own error says more.
        told = {finding.line for finding in found if finding.line is not None}
        for finding in sentences(error, whole):
            if finding.code != "profile-missing-key" or not told or not _was_refused(finding, found):
                found.append(finding)
        return None


def _was_refused(missing: Finding, found: list[Finding]) -> bool:
    key = missing.message.partition(":")[0]
    return any(finding.message.startswith(f"{key}:") for finding in found)


def _rules(profile: Profile, whole: Document, reference: str) -> Iterator[Finding]:
    """What one key alone cannot say."""
    if not is_path(reference) and profile.name != reference:
        yield _wrong("name", f"is {profile.name} in a file named {reference}", f"Write name: {reference}.", whole)
    if profile.engine == "command":
        yield from _command_rules(profile, whole)
    elif profile.command:
        yield _wrong("command", f"belongs to engine: command, not {profile.engine}", "Use model and args.", whole)
    arch, capability = set(profile.cuda.arch), set(profile.gpus.capability)
    if arch and capability and not capability <= arch:
        what = f"{', '.join(sorted(arch))} contradicts gpus.capability {', '.join(sorted(capability))}"
        yield _wrong("cuda.arch", what, "Leave cuda.arch out: it follows gpus.capability.", whole)


def _command_rules(profile: Profile, whole: Document) -> Iterator[Finding]:
    if not profile.command:
        yield _wrong("command", "is missing for engine: command", "Write command: [PROGRAM, ARGUMENT].", whole)
    if profile.ready is None:
        fix = "Write ready: none, or ready: {url: URL}."
        yield _wrong("ready", "is missing: nobody but you knows when this command is ready", fix, whole)
    elif isinstance(profile.ready, Ready) and not profile.ready.url:
        yield _wrong(
            "ready", "needs a whole URL for engine: command", "Write ready: {url: URL}, or ready: none.", whole
        )


def _wrong(key: str, what: str, fix: str, whole: Document) -> Finding:
    return findings.error("profile-value", f"{key}: {what}", fix=fix, where=whole.where(key))


def _clear_secrets(whole: Document) -> Iterator[Finding]:
    """A secret that stands in the file is a secret for everybody who reads the file."""
    for section in ("args", "env.set"):
        values: Any = whole.tree
        for part in section.split("."):
            values = values.get(part, {}) if isinstance(values, dict) else {}
        for name, value in values.items() if isinstance(values, dict) else ():
            if secrets.is_secret_name(name) and isinstance(value, str) and value and "${" not in value:
                key = f"{section}.{name}"
                variable = name.upper().replace("-", "_")
                fix = f'Write {name}: "${{{variable}}}" and export {variable}.'
                what = f"{key}: a secret stands in the file in clear."
                yield findings.warning("profile-clear-secret", what, fix=fix, where=whole.where(key))


def _not_yet(profile: Profile) -> Iterator[Finding]:
    """Keys that are read but not acted on: one note for all of them."""
    ready = profile.ready if isinstance(profile.ready, Ready) else Ready()
    unused = [
        key
        for key, used in (
            ("ready.generate", ready.generate),
            ("ready.stall", ready.stall is not None),
            ("live", profile.live is not None),
            ("restart", profile.restart.policy != "never" or "restart" in profile.model_fields_set),
            ("log", "log" in profile.model_fields_set),
        )
        if used
    ]
    if unused:
        what = f"Read, but without effect in this version: {', '.join(unused)}."
        yield findings.note("profile-not-yet", what, fix="Nothing; a later version acts on them.")
