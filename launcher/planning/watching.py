"""How the server is watched from its start to its end: what the profile asks for, with the engine's own ways. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.engines import Engine
from launcher.model import Endpoint, Finding, Liveness, Logging, Readiness, Restarts, Systemd
from launcher.profile.schema import Profile, Ready


def readiness(profile: Profile, engine: Engine, endpoint: Endpoint | None) -> Readiness | None:
    """None for `ready: none`, and where the server's address is not known."""
    if profile.ready == "none":
        return None
    ready = profile.ready if isinstance(profile.ready, Ready) else Ready()
    path = ready.path or engine.READY_PATH
    url = ready.url or (f"{_address(endpoint)}/{path.lstrip('/')}" if endpoint and path else None)
    if url is None:
        return None
    return Readiness(url=url, timeout=ready.timeout, stall=ready.stall, generate=ready.generate)


def liveness(profile: Profile, endpoint: Endpoint | None) -> Liveness | None:
    """None unless the profile turns it on, and where the server's address is not known."""
    if profile.live is None or endpoint is None:
        return None
    return Liveness(url=_address(endpoint), stall=profile.live.stall, generate=profile.live.generate)


def restarts(profile: Profile, systemd: Systemd) -> Restarts:
    """What follows an end that nobody asked for.

    Below a unit of systemd, or perhaps below one, none of our own starts: two layers that restart one server multiply
    (diegosouzapw/OmniRoute#4425).
    """
    wish = profile.restart
    if wish.policy != "on-failure":
        return Restarts(max=wish.max, delay=wish.delay)
    left_to = {
        True: f"that is left to the unit of systemd whose main process this is ({systemd.because})",
        None: f"a unit of systemd may do that: {systemd.because}",
        False: "",
    }[systemd.main_process]
    return Restarts(policy="on-failure", max=wish.max, delay=wish.delay, left_to=left_to)


def watching_findings(profile: Profile, wanted: Restarts, endpoint: Endpoint | None) -> Iterator[Finding]:
    """A word where the profile asks for what somebody else does, or what cannot be done."""
    if profile.live is not None and endpoint is None:
        yield findings.warning(
            "live-without-address",
            "live is asked for, but where the server listens is not known: nobody will look whether it hangs.",
            fix="Give ready.url, from which the address is read.",
        )
    if wanted.left_to:
        yield findings.note(
            "restart-left-to-systemd",
            f"restart.policy is on-failure, but {wanted.left_to}.",
            fix="Set Restart=on-failure and RestartSec= in the unit, as README.md shows.",
        )


def logging(profile: Profile) -> Logging:
    """How the output is kept."""
    wish = profile.log
    return Logging(
        rotate=wish.rotate,
        keep=wish.keep,
        total=wish.total,
        age=wish.age,
        format="json" if wish.format == "json" else "text",
        terminal="pty" if wish.terminal == "pty" else "pipe",
    )


def _address(endpoint: Endpoint) -> str:
    host = endpoint.probe_host
    return f"http://{f'[{host}]' if ':' in host else host}:{endpoint.port}"
