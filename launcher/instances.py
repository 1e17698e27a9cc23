"""Who runs, or is about to: locks on the instance's name, on each GPU and on the port, held until the run is over.

A lock is a flock(2) on a file in the folder for locks; JSON inside names the holder. The kernel lets go of it with the
holder's last descriptor, also after a SIGKILL, so what a dead launcher has left in the folder counts for nothing. Two
launches that see the same port free at the same moment would both start, and a probe of the second be answered by the
first: the later one ends here, with 75 (contract: one running instance per name and per GPU).

Nobody tests a lock by taking it: a launch at that very moment would be refused for a mere look. Who only looks reads
the JSON, and asks whether that process, with that start time, is alive.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import time
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType

from launcher import findings
from launcher.model import Finding
from launcher.private_files import make_private, matching, open_private
from launcher.supervise import processes
from launcher.supervise.naming import command_of
from launcher.supervise.processes import Process

_TELLING = 0.5  # seconds in which a holder that has just locked a file writes its name into it
_PAUSE = 0.01
_SUFFIX = ".lock"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # what can stand in a file's name everywhere


@dataclass(frozen=True)
class Claimant:
    """A launch. `start` is its process's start time in clock ticks since boot: the pid alone may be reused."""

    pid: int
    start: int
    instance: str
    profile: str
    run_id: str

    @property
    def process(self) -> Process:
        """Signal this one, never the pid alone."""
        return Process(self.pid, self.start)

    def __str__(self) -> str:
        name = self.profile if self.instance == self.profile else f"{self.profile} as {self.instance}"
        return f"{name}, run {self.run_id}, process {self.pid}"


@dataclass(frozen=True)
class Resource:
    """What one launch at a time may have. `kind` is instance, gpu or port; `called` names it to people."""

    kind: str
    name: str
    called: str

    @property
    def file_name(self) -> str:
        """Of its lock. A MIG device's UUID may hold a slash."""
        return f"{self.kind}-{self.name.replace('/', '_')}{_SUFFIX}"

    def file(self, folder: Path) -> Path:
        """Its lock."""
        return folder / self.file_name


@dataclass
class Claim:
    """The locks of one launch; leaving the block lets go of them. `findings`: why there are none, or fewer."""

    findings: tuple[Finding, ...] = ()
    taken_by: Claimant | None = None  # who has the instance's name, where that is why
    _held: dict[Path, int] = field(default_factory=dict)

    def __enter__(self) -> Claim:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def keep_through_exec(self) -> None:
        """Our process becomes another program: the locks stay with it, and with the children of a server."""
        self._inherit(True)

    def keep_from_children(self) -> None:
        """The usual: our children must not hold our locks."""
        self._inherit(False)

    def release(self) -> None:
        """The run is over. The file goes first: who opens it in between finds it gone and makes another one."""
        for path, descriptor in reversed(self._held.items()):
            path.unlink(missing_ok=True)
            os.close(descriptor)
        self._held.clear()

    def _inherit(self, inheritable: bool) -> None:
        for descriptor in self._held.values():
            os.set_inheritable(descriptor, inheritable)


def instance(name: str) -> Resource:
    """The right to be the one running instance of this name."""
    return Resource("instance", name, f"the instance {name}")


def gpu(index: int, uuid: str) -> Resource:
    """The GPU as a whole."""
    return Resource("gpu", uuid, f"GPU {index} ({uuid})")


def port(number: int) -> Resource:
    """The port on every address: servers that listen at one address each are rare, and mostly a mistake."""
    return Resource("port", str(number), f"port {number}")


def claimant(instance: str, profile: str, run_id: str) -> Claimant:
    """Ourselves."""
    own = processes.identify(os.getpid())
    return Claimant(os.getpid(), own.start if own else 0, instance, profile, run_id)


def claim(folder: str, who: Claimant, wanted: Iterable[Resource]) -> Claim:
    """All of it or nothing, without waiting. Every launch takes them in one order, so that of several that want the
    same at the same moment one gets it.
    """
    made, place = Claim(), Path(folder)
    ordered = sorted(dict.fromkeys(wanted), key=lambda resource: (_ORDER.index(resource.kind), resource.name))
    try:
        make_private(place)
        for resource in ordered:
            descriptor = _lock_for(resource.file(place))
            if descriptor is None:
                return _refused(made, resource, _read(resource.file(place)))
            made._held[resource.file(place)] = descriptor
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(asdict(who)).encode() + b"\n", 0)
    except OSError as error:
        made.release()
        return Claim(findings=(_unwritable(place, error),))
    except BaseException:  # Ctrl-C in between
        made.release()
        raise
    return made


def conflicts(folder: str, wanted: Iterable[Resource]) -> tuple[Finding, ...]:
    """What a claim would be refused for now, by looking alone."""
    found = ((resource, _read(resource.file(Path(folder)))) for resource in wanted)
    return tuple(taken(resource, holder) for resource, holder in found if holder and processes.is_alive(holder.process))


def stale(folder: str) -> tuple[tuple[Path, Claimant], ...]:
    """Locks whose holder is gone, a launcher that was killed: they count for nothing."""
    found = ((path, _read(path)) for path in matching(Path(folder), f"*{_SUFFIX}"))
    return tuple((path, holder) for path, holder in found if holder and not processes.is_alive(holder.process))


def sweep(folder: str, spared: Collection[str] = ()) -> None:
    """Removes those files, but where a process that was left behind has the lock. One that a launch takes at this very
    moment stays, and a launch that finds it in our hands tries again. `spared`: runs that somebody is still ending; by
    its locks the next launch of such an instance knows that it has to wait.
    """
    for path, holder in stale(folder):
        with contextlib.suppress(OSError):
            descriptor = _lock(path) if holder.run_id not in spared else None
            if descriptor is not None:
                path.unlink(missing_ok=True)
                os.close(descriptor)


def running(folder: str) -> tuple[Claimant, ...]:
    """Every instance that runs or is starting, by name."""
    found = (_read(path) for path in matching(Path(folder), f"instance-*{_SUFFIX}"))
    return tuple(holder for holder in found if holder and processes.is_alive(holder.process))


def taken(resource: Resource, holder: Claimant | None) -> Finding:
    """The error of the later one, which names the first."""
    who = str(holder) if holder else "another launch"
    doing = _doing(holder)
    if resource.kind == "instance":
        return findings.error(
            "instance-running",
            f"{resource.called[:1].upper()}{resource.called[1:]} runs already: {who}{doing}.",
            fix=f"gpulaunch stop {resource.name}, or --replace to take over, or --name for another one beside it.",
        )
    return findings.error(
        f"{resource.kind}-claimed",
        f"{resource.called[:1].upper()}{resource.called[1:]} is taken by another launch: {who}{doing}.",
        fix=f"gpulaunch stop {holder.instance if holder else 'NAME'}, or choose another {_WHAT[resource.kind]}.",
    )


def _doing(holder: Claimant | None) -> str:
    if holder is None:
        return ""
    if not processes.is_alive(holder.process):  # after --exec the locks live as long as any process of the server
        return " (which has ended; a process that it left behind has the lock: gpulaunch clean)"
    return f" ({command_of(holder.pid)})"


_ORDER = ("instance", "gpu", "port")
_WHAT = {"gpu": "GPU with gpus.select", "port": "port"}


def _lock_for(path: Path) -> int | None:
    """A descriptor with the lock, or None where a launch that lives has it. Raises OSError.

    Whose name the file holds may have ended: then its lock is free in the next moment, or its new holder has not
    written its name yet, or somebody is sweeping it.
    """
    until = time.monotonic() + _TELLING
    while True:
        descriptor = _lock(path)
        holder = _read(path) if descriptor is None else None
        if descriptor is not None or (holder is not None and processes.is_alive(holder.process)):
            return descriptor
        if time.monotonic() >= until:
            return None
        time.sleep(_PAUSE)


def _lock(path: Path) -> int | None:
    """A descriptor with the lock, or None where somebody has it. Raises OSError."""
    while True:
        descriptor = open_private(path, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            os.close(descriptor)
            raise
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)  # its last holder removed the file between our open and our lock


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    own = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)


def _refused(made: Claim, resource: Resource, holder: Claimant | None) -> Claim:
    made.release()
    by = holder if resource.kind == "instance" else None
    return Claim(findings=(taken(resource, holder),), taken_by=by)


def _read(path: Path) -> Claimant | None:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        told = json.loads(path.read_text(encoding="utf-8"))
        return Claimant(
            int(told["pid"]), int(told["start"]), str(told["instance"]), str(told["profile"]), str(told["run_id"])
        )
    return None


def _unwritable(folder: Path, error: OSError) -> Finding:
    return findings.warning(
        "locks-unwritable",
        f"The folder for locks {folder} cannot be used: {error.strerror}; another launch of this instance, on these "
        "GPUs or this port would not be noticed before it starts.",
        fix="Set XDG_RUNTIME_DIR to a folder of this user.",
    )
