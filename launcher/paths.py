"""Where our files go, computed from an environment that is handed in. Pure: looks at nothing, makes nothing.

systemd's folders come first (STATE_DIRECTORY and its siblings, first entry), then XDG, then the defaults below the
home folder. Without a home root uses /var/lib and /var/cache. Profiles are never looked up in the working folder: a
stranger's folder must not be able to answer to a name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

NAME = "gpulaunch"

# Where a system keeps its programs; sbin too: Triton asks /sbin/ldconfig for libcuda (triton-lang/triton#1981).
SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


@dataclass(frozen=True, kw_only=True)
class Places:
    """Absolute folders of ours. `profiles` is the search order for profile names, without the shipped ones."""

    state: str  # runs and logs
    cache: str  # toolkit views, link folders, JIT caches
    data: str  # provisioned toolkits
    locks: str
    profiles: tuple[str, ...]
    home: str | None


def places(environ: Mapping[str, str], *, home: str | None, uid: int) -> Places:
    """Our folders for this environment. `home` is the password database's answer, used when HOME is not usable."""
    base = usable_home(environ, home)
    state = _folder(environ, "STATE_DIRECTORY", "XDG_STATE_HOME", base, ".local/state", "/var/lib", uid)
    cache = _folder(environ, "CACHE_DIRECTORY", "XDG_CACHE_HOME", base, ".cache", "/var/cache", uid)
    data = _folder(environ, None, "XDG_DATA_HOME", base, ".local/share", "/var/lib", uid)
    return Places(
        state=state,
        cache=cache,
        data=data,
        locks=_locks(environ, state, uid),
        profiles=_profile_folders(environ, base),
        home=base,
    )


def short_key(*parts: str) -> str:
    """A short stable name for a folder that depends on these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def usable_home(environ: Mapping[str, str], home: str | None) -> str | None:
    """HOME if it is an absolute folder other than /, else the password database's, else None.

    HOME=/ or an empty one would put caches at /.cache (vllm-project/vllm#10185).
    """
    for candidate in (environ.get("HOME"), home):
        if candidate and candidate.startswith("/") and candidate.strip("/") and candidate != "/nonexistent":
            return candidate.rstrip("/")
    return None


def _folder(
    environ: Mapping[str, str], systemd: str | None, xdg: str, home: str | None, below: str, last: str, uid: int
) -> str:
    first = environ.get(systemd, "").split(":")[0] if systemd else ""
    if first.startswith("/"):
        return f"{first}/{NAME}"
    if environ.get(xdg, "").startswith("/"):
        return f"{environ[xdg].rstrip('/')}/{NAME}"
    if home:
        return f"{home}/{below}/{NAME}"
    return f"{last}/{NAME}" if uid == 0 else f"/tmp/{NAME}-{uid}/{below.rsplit('/', 1)[-1].lstrip('.')}"


def _locks(environ: Mapping[str, str], state: str, uid: int) -> str:
    if uid == 0:
        return f"/run/{NAME}"
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    return f"{runtime.rstrip('/')}/{NAME}" if runtime.startswith("/") else f"{state}/run"


def _profile_folders(environ: Mapping[str, str], home: str | None) -> tuple[str, ...]:
    """In RamaLama's order: named, the user's, the system's."""
    found = [entry for entry in environ.get("GPULAUNCH_PROFILE_PATH", "").split(":") if entry.startswith("/")]
    config = environ.get("XDG_CONFIG_HOME", "")
    if config.startswith("/"):
        found.append(f"{config.rstrip('/')}/{NAME}/profiles")
    elif home:
        found.append(f"{home}/.config/{NAME}/profiles")
    for entry in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":"):
        if entry.startswith("/"):
            found.append(f"{entry.rstrip('/')}/{NAME}/profiles")
    found += [f"/etc/{NAME}/profiles", f"/usr/share/{NAME}/profiles"]
    return tuple(dict.fromkeys(found))
