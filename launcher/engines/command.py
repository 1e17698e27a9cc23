"""Any other server: the profile's own command line, in the same environment, with the same supervision and capture."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from launcher.engines import arguments
from launcher.model import Change, Endpoint, Finding, Step
from launcher.profile.schema import Ready
from launcher.situation import Situation

NAME = "command"
PACKAGES: tuple[str, ...] = ()
USUAL: tuple[str, ...] = ()
READY_PATH = None
NEEDS_TARGET = False


def argv(situation: Situation) -> tuple[str, ...]:
    """The command as it stands; its program is looked up on the planned PATH. `args` follow it."""
    return (*situation.profile.command, *arguments.tokens(situation.profile.args, negate=False))


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """Nothing of its own."""
    return iter(())


def endpoint(argv: tuple[str, ...], situation: Situation) -> Endpoint | None:
    """The readiness URL says where it listens: host and port, by scheme where no port stands."""
    ready = situation.profile.ready
    if not isinstance(ready, Ready) or not ready.url:
        return None
    parts = urlsplit(ready.url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return Endpoint(host=parts.hostname, port=port) if parts.hostname and port else None
