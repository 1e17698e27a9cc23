"""A session that ends takes its processes with it, unless its user lingers: said before, and said when it happened.

systemd ends a user's manager with the last session (Linger=no), and logind a session's scope (KillUserProcesses=):
what looks like "the engine dies silently" is a TERM from there (vllm-project/vllm#50067). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from launcher import findings
from launcher.model import Finding

FOLDER = "/var/lib/systemd/linger"  # an empty file for every user who lingers


class Session(NamedTuple):
    """Where we run: our own cgroup's path, our user, and whether that user lingers (None: could not tell)."""

    cgroup: str
    user: str
    lingers: bool | None


def ends_with_the_session(session: Session) -> bool:
    """True if we live in a user's session and that user is known not to linger."""
    return "/user.slice/" in f"{session.cgroup}/" and session.lingers is False


def explanation(sender: str, session: Session) -> str | None:
    """What stands behind a TERM or HUP from that command, or None. `sender` is its command line or name."""
    words = sender.split()
    program = words[0].rpartition("/")[2].strip("()") if words else ""
    manager = program == "systemd" and "--system" not in words
    if not (manager or program in ("systemd-logind", "sd-pam", "login", "sshd")):
        return None
    if not ends_with_the_session(session):
        return None
    return (
        f"the last session of {session.user} ended and its processes with it, as it does not linger; "
        f"loginctl enable-linger {session.user} keeps them"
    )


def check(session: Session) -> Iterator[Finding]:
    """A warning at the start: who logs out ends the server."""
    if ends_with_the_session(session):
        yield findings.warning(
            "no-linger",
            f"this runs in a session of {session.user}, who does not linger: systemd may end it with that session.",
            fix=f"loginctl enable-linger {session.user}, or run it as a system unit.",
        )
