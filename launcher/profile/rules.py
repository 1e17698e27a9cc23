"""What several keys of a profile must agree on. Pure.

On the plain tree, not on the validated profile: a profile that is wrong elsewhere hears of these at once, too.
"""

from __future__ import annotations

from typing import Any, get_args

from launcher.profile.document import REFUSED, Document
from launcher.profile.schema import EngineName
from launcher.variables import must_not_be_empty


def judge(document: Document) -> None:
    """Notes whatever does not go together."""
    _engine(document)
    _target(document)
    _ready(document)
    _architectures(document)
    _variables(document)


def _at(document: Document, key: str) -> Any:
    """The value of a dotted key; None where it is not there."""
    value: Any = document.tree
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _wrong(document: Document, key: str, what: str, fix: str) -> None:
    document.error("profile-value", key, what, fix)


def _engine(document: Document) -> None:
    """`command` is for any other server and says what an engine of ours would know."""
    engine, command = document.tree.get("engine"), document.tree.get("command")
    if engine == "command":
        if not command and not document.incomplete:
            fix = "Write command: [PROGRAM, ARGUMENT]."
            _wrong(document, "command", "it is missing, and engine: command runs it", fix)
        if "model" in document.tree:
            what, fix = "engine: command does not use it", "Write it into command, as ${NAME} or as it is."
            document.warning("profile-without-effect", "model", what, fix)
        _ready_of_command(document)
    elif command is not None and engine in get_args(EngineName):
        _wrong(document, "command", f"it belongs to engine: command, not to {engine}", "Use model and args.")
    if isinstance(command, list) and command and command[0] == "":
        _wrong(document, "command.0", "the program is empty", "Write its name or path.")


def _ready_of_command(document: Document) -> None:
    ready = document.tree.get("ready")
    fix = "Write ready: none, or ready: {url: URL}."
    if ready is None and not document.incomplete:
        _wrong(document, "ready", "it is missing, and only you know when this command is ready", fix)
    elif isinstance(ready, dict) and not ready.get("url"):
        _wrong(document, "ready", "engine: command has no address of its own that a path could go with", fix)


def _target(document: Document) -> None:
    target = document.tree.get("target")
    if not isinstance(target, dict):
        return
    named = [name for name in ("venv", "python", "program") if name in target]
    choices = "{venv: DIR}, {python: FILE}, {python: self} or {program: FILE}"
    if len(named) > 1:
        _wrong(document, "target", f"it names {' and '.join(named)}", _keep_one(document, "target", named))
    elif not named and not target:
        _wrong(document, "target", "it names nothing", f"Write one of {choices}.")


def _ready(document: Document) -> None:
    ready = document.tree.get("ready")
    if isinstance(ready, dict) and "path" in ready and "url" in ready:
        _wrong(document, "ready", "it has both path and url", _keep_one(document, "ready", ["path", "url"]))


def _keep_one(document: Document, parent: str, names: list[str]) -> str:
    """What to do; for a key that another file brought in, how to get rid of it."""
    files = {name: document.where(f"{parent}.{name}").file for name in names}
    theirs = [name for name in names if files[name] != document.file]
    if theirs and len(theirs) < len(names):
        return f"Keep one: {theirs[0]} comes from {files[theirs[0]]}, and {theirs[0]}: null removes it."
    return "Keep one."


def _architectures(document: Document) -> None:
    """`arch` may say more than the GPUs at hand, never something else."""
    built, asserted = _texts(_at(document, "cuda.arch")), _texts(_at(document, "gpus.capability"))
    missing = [capability for capability in asserted if capability not in built]
    if built and missing:
        what = f"it has no {', '.join(missing)}, which gpus.capability asserts"
        _wrong(document, "cuda.arch", what, "Leave cuda.arch out: it follows gpus.capability.")


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(entry) for entry in values if isinstance(entry, str)]


def _variables(document: Document) -> None:
    given, removed = _at(document, "env.set"), _texts(_at(document, "env.unset"))
    if isinstance(given, dict) and "CUDA_VISIBLE_DEVICES" in given and _at(document, "gpus.select"):
        _wrong(document, "env.set.CUDA_VISIBLE_DEVICES", "gpus.select chooses the GPUs, too", "Keep gpus.select alone.")
    for name, value in given.items() if isinstance(given, dict) else ():
        key = f"env.set.{name}"
        if value is not REFUSED and name in removed:
            _wrong(document, key, "env.unset removes it again", "Keep one of them.")
        instead = must_not_be_empty(name)
        if value == "" and instead:
            what = "an empty value is not an absent one: libraries read it as a broken one"
            _wrong(document, key, what, f"Leave it out, or use {instead}.")
