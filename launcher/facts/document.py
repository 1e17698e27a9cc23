"""Facts to JSON, masked, and back: a user's broken machine becomes a plan on a laptop, and a test."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from launcher import findings, secrets
from launcher.errors import Refused
from launcher.model import Facts, Where

SCHEMA_VERSION = 1


def dump(facts: Facts) -> str:
    """JSON with a stable order; secrets are ***."""
    from pydantic import TypeAdapter

    plain = TypeAdapter(Facts).dump_python(masked(facts), mode="json")
    text = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
    # Bytes of the environment that are no UTF-8 cannot stand in JSON: each becomes the replacement character.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def masked(facts: Facts) -> Facts:
    """The same facts with every secret value masked, wherever it stands."""
    environ = facts.caller.environ
    hidden = tuple(value for name, value in environ.items() if value and secrets.is_secret_name(name))
    shown = {
        name: secrets.MASK if value and secrets.is_secret_name(name) else secrets.mask(value, hidden)
        for name, value in sorted(environ.items())
    }
    return replace(facts, caller=replace(facts.caller, environ=shown))


def load(path: str) -> Facts:
    """Facts from a file. Raises Refused with every problem (78; 77 where unreadable)."""
    from pydantic import TypeAdapter, ValidationError

    plain = _json(path)
    try:
        return TypeAdapter(Facts).validate_python(_without_unknown(plain, path))
    except ValidationError as error:
        raise Refused(
            findings.error(
                "facts-malformed",
                f"{'.'.join(str(part) for part in entry['loc'])}: {entry['msg']}",
                fix="gpulaunch facts --json writes such a file.",
                where=Where(path, None),
            )
            for entry in error.errors(include_url=False, include_input=False)
        ) from None


def _json(path: str) -> Any:
    where = Where(path, None)
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise OSError(errno.EINVAL, "it is no regular file")
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        code = "facts-unreadable" if isinstance(error, PermissionError) else "facts-malformed"
        fix = "Name a file that gpulaunch facts --json wrote."
        raise Refused([findings.error(code, f"cannot be read: {error.strerror}.", fix=fix, where=where)]) from None
    except (ValueError, RecursionError) as error:
        where = Where(path, getattr(error, "lineno", None))
        what = f"this is not JSON: {getattr(error, 'msg', 'not UTF-8, or nested too deeply')}."
        fix = "Write it again with gpulaunch facts --json."
        raise Refused([findings.error("facts-malformed", what, fix=fix, where=where)]) from None


def _without_unknown(plain: Any, path: str) -> Any:
    """A later version only adds keys, and says so by its number; what is no mapping is left to the validator."""
    version = plain.get("schema_version") if isinstance(plain, dict) else SCHEMA_VERSION
    if isinstance(version, int) and version > SCHEMA_VERSION:
        what = f"was written by a newer gpulaunch (schema_version {version}, this one knows {SCHEMA_VERSION})."
        raise Refused([findings.error("facts-malformed", what, fix="Upgrade gpulaunch.", where=Where(path, None))])
    return plain
