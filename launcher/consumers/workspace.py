"""Where compiled kernels go: one root for each toolchain below our cache, and one that all may share. Pure.

The root is keyed by everything that compiled code depends on and that the libraries' own keys leave out: the same
toolchain finds the same root again, another one never meets its files (flashinfer-ai/flashinfer#3229, #5145). Its name
begins with what a person looks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.caches import CACHES, SHARED, Cache
from launcher.paths import short_key
from launcher.situation import Situation


def jit_root(situation: Situation) -> str | None:
    """The root of the chosen toolchain; None without a choice."""
    choice = situation.choice
    if choice is None or choice.root is None:
        return None
    engine = situation.profile.engine
    version = situation.version(engine)
    named = "-".join(part for part in (choice.release or "hidden", engine, version) if part)
    return f"{situation.places.cache}/jit/{named}-{short_key(*_depends_on(situation))}"


def folder(cache: Cache, situation: Situation) -> str | None:
    """Where one cache goes; None without a choice."""
    root = jit_root(situation)
    if root is None:
        return None
    return f"{situation.places.cache}/jit/{SHARED}/{cache.folder}" if cache.covers_toolkit else f"{root}/{cache.folder}"


def _depends_on(situation: Situation) -> Iterator[str]:
    choice, target = situation.choice, situation.target
    assert choice is not None
    yield f"toolkit {choice.root} {choice.source or choice.root} {choice.release or 'hidden'}"
    yield f"torch {target.torch.version if target and target.torch else None} {situation.torch_cuda}"
    yield f"architectures {' '.join(situation.capabilities)}"
    # A home folder may be seen by machines of two kinds, and by environments with two Pythons.
    yield f"python {target.version if target else None} {situation.facts.host.machine}"
    for package in sorted({situation.profile.engine, *(owner for cache in CACHES for owner in cache.owners)}):
        if situation.has(package):
            yield f"{package} {situation.version(package)}"
