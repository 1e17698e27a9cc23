"""Are the caches of compiled kernels where they may be: on a local disk, writable, not locked, not empty?"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.caches import VARIABLES
from launcher.checks.command import Command
from launcher.consumers import flashinfer
from launcher.model import CacheFolder, CacheLock, Caches, Finding
from launcher.situation import Situation

# Types of file systems that lie on another machine, as mountinfo names them.
NETWORK = (
    "nfs", "nfs3", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "fuse.glusterfs",
    "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.juicefs", "wekafs", "pvfs2", "orangefs", "afs", "9p", "ncpfs",
)  # fmt: skip


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """Of the folders that the planned environment names."""
    caches = situation.facts.caches
    if caches is None:
        return
    used = {command.env[name]: name for name in VARIABLES if name in command.env}
    for folder in caches.folders:
        if any(path == folder.path or path.startswith(f"{folder.path}/") for path in used):
            yield from _disk(folder)
    yield from (_lock(lock) for lock in caches.locks if lock.below in used)
    yield from _cold(situation, caches, command)


def _disk(folder: CacheFolder) -> Iterator[Finding]:
    if folder.file_system in NETWORK:
        yield findings.warning(
            "cache-not-local",
            f"{folder.path}, where kernels are compiled to, lies on {folder.file_system}: locks and files of running "
            "servers are lost there, and other machines compile into the same folder.",
            fix="Set XDG_CACHE_HOME to a folder on a local disk; model weights may stay where they are.",
        )
    if not folder.writable:
        yield findings.error(
            "cache-not-writable",
            f"{folder.path}, where kernels are compiled to, cannot be written by this user.",
            fix="Set XDG_CACHE_HOME, or CacheDirectory= in the unit, to a writable folder.",
        )


def _lock(lock: CacheLock) -> Finding:
    if lock.kind == "left":
        return findings.warning(
            "stale-lock",
            f"{lock.path} was left by a process that is gone: whoever needs {lock.module} waits for ever.",
            fix=f"rm {lock.path}",
        )
    who = f"process {lock.pid} ({lock.command})" if lock.pid else "a process of another container"
    return findings.warning(
        "cache-locked",
        f"{lock.path} is held by {who}: whoever needs {lock.module} waits until it is done.",
        fix=f"Wait, or end it if it hangs: kill {lock.pid}" if lock.pid else "Look in the other containers.",
    )


def _cold(situation: Situation, caches: Caches, command: Command) -> Iterator[Finding]:
    """Only where FlashInfer will compile: of other libraries nobody can say in advance what they need."""
    choice = situation.choice
    if choice is None or choice.release is None or not situation.has(flashinfer.PACKAGE):
        return
    base = command.env.get("FLASHINFER_WORKSPACE_BASE")
    if base is None or flashinfer.compiles(situation) is None:
        return
    built = [build for build in caches.builds if build.base == base and build.built]
    if built:
        return
    yield findings.note(
        "cache-cold",
        f"No kernel is compiled yet for this toolchain ({base}): the first requests wait for nvcc.",
        fix=f"gpulaunch cache warm --profile {situation.profile.name}",
    )
