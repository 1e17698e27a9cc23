"""What is always repaired: the variables without which servers fail in services, slim images and odd accounts. Pure.

Repairs stand between the CUDA decision and the profile's own `env.set`: the profile may say otherwise and is warned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from launcher import findings
from launcher.model import Change, Endpoint, Finding, Step
from launcher.situation import Situation

# name -> (value, why)
CONSTANT: dict[str, tuple[str, str]] = {
    "PYTHONUNBUFFERED": ("1", "through a pipe the last lines before a crash would be lost (docker-library/python#604)"),
    "PYTHONNOUSERSITE": ("1", "packages in ~/.local would shadow the target's (princeton-ddss/blackfish#366)"),
    "SPT_NOENV": ("1", "setproctitle would wipe /proc/PID/environ and our marks with it"),
    "CUDA_DEVICE_ORDER": ("PCI_BUS_ID", "CUDA then counts the GPUs as nvidia-smi does (gpustack/gpustack#1633)"),
}

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_LOOPBACK = ("localhost", "127.0.0.1", "0.0.0.0", "::1")


def repairs(
    situation: Situation, values: Mapping[str, str], endpoint: Endpoint | None = None
) -> Iterator[Change | Step | Finding]:
    """Every repair, given the values that the layers below came to and where the server will listen."""
    yield from _identity(situation, values)
    for name, (value, why) in CONSTANT.items():
        yield Change(name=name, action="set", value=value, origin="repair", because=why)
    yield _colours(situation)
    yield from _virtual_env(situation)
    yield from _proxies(values, endpoint)


def _identity(situation: Situation, values: Mapping[str, str]) -> Iterator[Change | Step | Finding]:
    """HOME, USER and LOGNAME exist and are usable (vllm-project/vllm#10185, pytorch/pytorch#140765)."""
    yield from _home(situation, values)
    account = situation.facts.host.user
    user = account or f"uid{situation.facts.host.uid}"
    why = "of this account" if account else "made up: torch's cache lookup raises for a uid without an account"
    for name in ("USER", "LOGNAME"):
        if not values.get(name):
            yield Change(name=name, action="set", value=user, origin="repair", because=why)


def _home(situation: Situation, values: Mapping[str, str]) -> Iterator[Change | Step | Finding]:
    said, usable = values.get("HOME"), situation.facts.host.usable_homes
    home = situation.places.home
    if home and (usable is None or home in usable):
        if said != home:
            why = "from the password database: the caller's is absent or not usable"
            yield Change(name="HOME", action="set", value=home, origin="repair", because=why)
        return
    account = situation.facts.host.home
    if account and usable and account in usable:
        why = f"from the password database: {said!r} is not a writable folder"
        yield Change(name="HOME", action="set", value=account, origin="repair", because=why)
        return
    stand_in = f"{situation.places.state}/home"
    yield Step(action="folder", path=stand_in, because="a home for a service without a usable one")
    why = "no usable home: caches would go to /.cache or fail"
    yield Change(name="HOME", action="set", value=stand_in, origin="repair", because=why)
    yield findings.warning(
        "no-usable-home",
        f"No usable home folder: HOME is {said or 'not set'}; the server gets {stand_in}.",
        fix="Set HOME, or User= and StateDirectory= in the unit, to a writable folder.",
    )


def _colours(situation: Situation) -> Change:
    """Colours where somebody sees them; a pipe alone would turn them off, and the log leaves them out in any case."""
    caller = situation.facts.caller
    if caller.on_terminal and not caller.environ.get("NO_COLOR"):
        why = "a terminal shows the output; the log keeps no colours"
        return Change(name="FORCE_COLOR", action="set", value="1", origin="repair", because=why)
    why = "the caller wants none" if caller.on_terminal else "no terminal shows the output"
    return Change(name="NO_COLOR", action="set", value="1", origin="repair", because=why)


def _virtual_env(situation: Situation) -> Iterator[Change]:
    target = situation.target
    if target is not None and target.prefix and target.kind == "python":
        why = "the target, as its activation would say"
        yield Change(name="VIRTUAL_ENV", action="set", value=target.prefix, origin="repair", because=why)


def _proxies(values: Mapping[str, str], endpoint: Endpoint | None) -> Iterator[Change | Finding]:
    """An engine's request to itself must not go through a proxy (sgl-project/sglang#9155)."""
    proxies = {name: values[name] for name in _PROXIES if values.get(name)}
    if not proxies:
        return
    yield from (_malformed_proxy(name) for name, value in proxies.items() if not is_proxy_url(value))
    own = (endpoint.host,) if endpoint and endpoint.host not in ("", "*") else ()
    for name in ("NO_PROXY", "no_proxy"):
        entries = [entry.strip() for entry in values.get(name, "").split(",") if entry.strip()]
        readable = [host for entry in entries if (host := readable_host(entry))]
        value = ",".join(dict.fromkeys((*readable, *_LOOPBACK, *own)))
        if value != values.get(name):
            why = "there is a proxy, and the server's requests to itself must not go through it"
            odd = [entry for entry in entries if entry not in readable]
            if odd:
                why += f"; httpx raises on {', '.join(odd)}"
            yield Change(name=name, action="set", value=value, origin="repair", because=why)


def readable_host(entry: str) -> str | None:
    """An entry of NO_PROXY as httpx reads it: it makes a URL of each and raises `Invalid port` on an address in
    brackets (safedep/pmg#339) and on an IPv6 network (orbstack/orbstack#2456). None: it has to be left out.
    """
    if re.fullmatch(r"\[[0-9a-fA-F:.]+\]", entry):
        return entry[1:-1]
    return None if "/" in entry and entry.count(":") > 1 and "://" not in entry else entry


def is_proxy_url(value: str) -> bool:
    """True for what HTTP clients take as a proxy: scheme, host, and a port that is one; some take host:port too."""
    url = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    known = parts.scheme in ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
    return known and bool(parts.hostname) and port != 0 and not any(letter.isspace() for letter in value)


def _malformed_proxy(name: str) -> Finding:
    """Without the value: it may hold a password."""
    return findings.warning(
        "proxy-malformed",
        f"{name} is no proxy's URL: HTTP clients raise on it when the server starts.",
        fix=f"Correct {name} (http://host:port), or start without it.",
    )
