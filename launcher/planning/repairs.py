"""What is always repaired: the variables without which servers fail in services, slim images and odd accounts. Pure.

Repairs stand between the CUDA decision and the profile's own `env.set`: the profile may say otherwise and is warned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from launcher import findings
from launcher.model import Change, Finding, Step
from launcher.situation import Situation

# name -> (value, why)
CONSTANT: dict[str, tuple[str, str]] = {
    "PYTHONUNBUFFERED": ("1", "through a pipe the last lines before a crash would be lost (docker-library/python#604)"),
    "PYTHONNOUSERSITE": ("1", "packages in ~/.local would shadow the target's (princeton-ddss/blackfish#366)"),
    "SPT_NOENV": ("1", "setproctitle would wipe /proc/PID/environ and our marks with it"),
    "CUDA_DEVICE_ORDER": ("PCI_BUS_ID", "CUDA then counts the GPUs as nvidia-smi does (gpustack/gpustack#1633)"),
    "NO_COLOR": ("1", "the log is a file"),
}

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_LOOPBACK = ("localhost", "127.0.0.1", "0.0.0.0", "::1")


def repairs(situation: Situation, values: Mapping[str, str]) -> Iterator[Change | Step | Finding]:
    """Every repair, given the values that the layers below came to."""
    yield from _identity(situation, values)
    for name, (value, why) in CONSTANT.items():
        yield Change(name=name, action="set", value=value, origin="repair", because=why)
    yield from _virtual_env(situation)
    yield from _proxies(values)


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


def _virtual_env(situation: Situation) -> Iterator[Change]:
    target = situation.target
    if target is not None and target.prefix and target.kind == "python":
        why = "the target, as its activation would say"
        yield Change(name="VIRTUAL_ENV", action="set", value=target.prefix, origin="repair", because=why)


def _proxies(values: Mapping[str, str]) -> Iterator[Change]:
    """An engine's request to itself must not go through a proxy (sgl-project/sglang#9155)."""
    if not any(values.get(name) for name in _PROXIES):
        return
    for name in ("NO_PROXY", "no_proxy"):
        entries = [entry.strip() for entry in values.get(name, "").split(",") if entry.strip()]
        value = ",".join(dict.fromkeys((*entries, *_LOOPBACK)))
        if value != values.get(name):
            why = "there is a proxy, and the server's requests to itself must not go through it"
            yield Change(name=name, action="set", value=value, origin="repair", because=why)
