"""How the server is watched from its start to its end: what the profile asks for, with the engine's own ways. Pure."""

from __future__ import annotations

from launcher.engines import Engine
from launcher.model import Endpoint, Liveness, Logging, Readiness, Restarts
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


def restarts(profile: Profile) -> Restarts:
    """What follows an end that nobody asked for."""
    wish = profile.restart
    return Restarts(policy="on-failure" if wish.policy == "on-failure" else "never", max=wish.max, delay=wish.delay)


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
