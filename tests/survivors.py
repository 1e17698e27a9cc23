"""Who is still alive of what a test started: counted by the kernel's own bookkeeping, never by names or marks.

A process can rewrite its argv and wipe its environment (setproctitle does), change its session and leave its parent. It
cannot leave the tree below a sub-reaper, its pid namespace or, unless somebody moves it, its cgroup. A corral uses one
of these, or all; whatever is left in it when it closes is killed.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37
CLONE_NEWPID = 0x20000000
KILL_SECONDS = 10.0

_SomeCorral = TypeVar("_SomeCorral", bound="Corral")
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Process:
    """A live process as the test's own /proc shows it. Equal under any name, never to one with a reused pid."""

    pid: int
    comm: str = field(compare=False)
    cmdline: tuple[str, ...] = field(compare=False)
    started: int = field(repr=False)  # clock ticks after boot
    parent: int = field(repr=False, compare=False)


class Corral:
    """Holds everything that the test starts while it is open, for ordinary users too.

    The test process is made a child sub-reaper: an orphan, however it was made, becomes a child of ours, not of
    PID 1. Start processes by `spawn` alone while it is open; what the test had started before does not count.
    """

    def __init__(self) -> None:
        self._spawned: list[subprocess.Popen[Any]] = []
        self._earlier: frozenset[tuple[int, int]] = frozenset()
        self._was_reaper = False

    @classmethod
    def unavailable(cls) -> str | None:
        """Why this kind of corral cannot be used here, or None."""
        return None

    def __enter__(self: _SomeCorral) -> _SomeCorral:
        self._was_reaper = _is_reaper()
        own = os.getpid()
        self._earlier = frozenset((s.pid, s.started) for s in _scan().values() if s.parent == own)
        self._open()
        _set_reaper(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._kill()
            left = self.wait_empty(KILL_SECONDS)
            if left:
                raise RuntimeError(f"still alive {KILL_SECONDS:.0f} s after SIGKILL: {left}")
            self._collect()
        finally:
            self._close()
            _set_reaper(self._was_reaper)

    def spawn(self, argv: Sequence[str | os.PathLike[str]], **popen: Any) -> subprocess.Popen[Any]:
        """`subprocess.Popen` inside the corral; standard input is empty unless given."""
        popen.setdefault("stdin", subprocess.DEVNULL)
        with self._inside():
            process = subprocess.Popen(self._wrapped([os.fspath(word) for word in argv]), **popen)
        self._spawned.append(process)
        return process

    def survivors(self) -> list[Process]:
        """Everything alive in the corral, the spawned processes included, by pid."""
        # /proc is no snapshot: a parent that ends while we read hides its children. Two equal looks settle it.
        seen, again = None, self._members()
        while again != seen:
            seen, again = again, self._members()
        return [process for process in map(_process, again) if process is not None]

    def wait_empty(self, timeout: float) -> list[Process]:
        """Waits until nothing is alive, at most `timeout` seconds; what is left then, best an empty list."""
        deadline = time.monotonic() + timeout
        while left := self.survivors():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                break
            _wait_for_one(left, remaining)
        return left

    def _open(self) -> None:
        pass

    def _close(self) -> None:
        pass

    @contextmanager
    def _inside(self) -> Iterator[None]:
        yield

    def _wrapped(self, argv: list[str]) -> list[str]:
        return argv

    def _members(self) -> list[_Stat]:
        stats = _scan()
        roots = [s for s in stats.values() if s.parent == os.getpid() and (s.pid, s.started) not in self._earlier]
        return [stat for stat in _with_descendants(roots, stats) if stat.alive]

    def _kill(self) -> None:
        deadline = time.monotonic() + KILL_SECONDS
        while (left := self.survivors()) and time.monotonic() < deadline:
            for process in left:
                _signal(process, signal.SIGKILL)
            _wait_for_one(left, deadline - time.monotonic())

    def _collect(self) -> None:
        """Reaps what we started and what we inherited, and closes the pipes."""
        for process in self._spawned:
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            process.wait(KILL_SECONDS)
        own = os.getpid()
        for stat in _scan().values():
            if stat.parent == own and not stat.alive and (stat.pid, stat.started) not in self._earlier:
                os.waitpid(stat.pid, os.WNOHANG)


class CgroupCorral(Corral):
    """Counts by a cgroup of its own, and by descent as well: a program that may make cgroups can move itself out."""

    def __init__(self) -> None:
        super().__init__()
        self.cgroup: Cgroup | None = None

    @classmethod
    def unavailable(cls) -> str | None:
        return Cgroup.unavailable() or super().unavailable()

    def _open(self) -> None:
        super()._open()
        self.cgroup = Cgroup.create()

    def _close(self) -> None:
        assert self.cgroup is not None
        self.cgroup.remove()
        super()._close()

    @contextmanager
    def _inside(self) -> Iterator[None]:
        assert self.cgroup is not None
        with super()._inside(), self.cgroup.entered():
            yield

    def _members(self) -> list[_Stat]:
        assert self.cgroup is not None
        inside = (stat for stat in map(_stat, self.cgroup.pids()) if stat is not None and stat.alive)
        return _merged(super()._members(), inside)

    def _kill(self) -> None:
        assert self.cgroup is not None
        self.cgroup.kill()
        super()._kill()


class NamespaceCorral(Corral):
    """Counts by a pid namespace of its own, with its own /proc: the run believes to be alone on the machine."""

    def __init__(self) -> None:
        super().__init__()
        self._init: subprocess.Popen[Any] | None = None
        self._namespace = -1
        self._name = ""

    @classmethod
    def unavailable(cls) -> str | None:
        if os.geteuid() != 0:
            return "a private pid namespace needs root"
        if shutil.which("unshare") is None:
            return "unshare (util-linux) is missing"
        return super().unavailable()

    def _open(self) -> None:
        super()._open()
        # PID 1 of the namespace must outlive the run, or the kernel would sweep for the program under test; and it must
        # reap, as any init does, or the dead would look alive to it. An ignored SIGCHLD reaps and is kept through exec.
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        _checked(_libc.unshare(CLONE_NEWPID))
        try:
            self._init = subprocess.Popen(
                ["env", "--ignore-signal=CHLD", "sleep", "infinity"], stdin=subprocess.DEVNULL
            )
        finally:
            _checked(_libc.setns(own, CLONE_NEWPID))
            os.close(own)
        self._namespace = os.open(f"/proc/{self._init.pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._name = os.readlink(f"/proc/{self._init.pid}/ns/pid")

    def _close(self) -> None:
        os.close(self._namespace)
        super()._close()

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Children made in here are born in the namespace, and still are children of ours with our numbers."""
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        _checked(_libc.setns(self._namespace, CLONE_NEWPID))
        try:
            with super()._inside():
                yield
        finally:
            _checked(_libc.setns(own, CLONE_NEWPID))
            os.close(own)

    def _wrapped(self, argv: list[str]) -> list[str]:
        # unshare replaces itself by the program, so the pid stays; its /proc then tells the namespace's own numbers.
        return [shutil.which("unshare") or "unshare", "--mount-proc", "--", *argv]

    def _members(self) -> list[_Stat]:
        assert self._init is not None
        inside = (s for s in _scan().values() if s.alive and _pid_namespace(s.pid) == self._name)
        return [stat for stat in _merged(super()._members(), inside) if stat.pid != self._init.pid]

    def _kill(self) -> None:
        assert self._init is not None
        # The kernel kills the namespace with its init, which ends only when the others were reaped: ours by us.
        self._init.kill()
        for process in self._spawned:
            process.wait(KILL_SECONDS)
        self._init.wait(KILL_SECONDS)
        super()._kill()


class FencedCorral(NamespaceCorral, CgroupCorral):
    """A pid namespace that counts, in a cgroup that also shows which cgroups were left behind. For root."""

    def inner_cgroups(self) -> list[str]:
        """The cgroups that somebody made in ours and did not remove."""
        assert self.cgroup is not None
        return sorted(entry.name for entry in self.cgroup.folder.iterdir() if entry.is_dir())


@dataclass(frozen=True)
class Cgroup:
    """A cgroup of the unified hierarchy (v2) that belongs to a test; it may hold cgroups that others made in it."""

    folder: Path

    @staticmethod
    def unavailable() -> str | None:
        """Why no cgroup can be made here, or None."""
        own = own_cgroup()
        if own is None:
            return "no cgroup v2 hierarchy is mounted"
        if not os.access(own, os.W_OK) or not os.access(own / "cgroup.procs", os.W_OK):
            return f"{own} cannot be written"
        return None

    @classmethod
    def create(cls) -> Cgroup:
        """A new one below the test's own."""
        own = own_cgroup()
        assert own is not None, "no cgroup v2 hierarchy is mounted"
        folder = own / f"test-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        folder.mkdir()
        return cls(folder)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """The test process itself is inside meanwhile; children made in here stay inside."""
        before = own_cgroup()
        assert before is not None
        (self.folder / "cgroup.procs").write_text("0")
        try:
            yield
        finally:
            (before / "cgroup.procs").write_text("0")

    def pids(self, below: str = "") -> list[int]:
        """All processes in it or in the cgroup `below` it, those of cgroups inside included."""
        found: list[int] = []
        for folder, _, _ in os.walk(self.folder / below):
            try:
                found.extend(int(line) for line in (Path(folder) / "cgroup.procs").read_text().split())
            except OSError:  # removed while we read; or a threaded one, which has no processes of its own
                continue
        return sorted(found)

    def processes(self, below: str = "") -> list[Process]:
        """The same, as processes."""
        stats = (_stat(pid) for pid in self.pids(below))
        return [process for process in (_process(stat) for stat in stats if stat is not None) if process is not None]

    def populated(self) -> bool:
        """What the kernel says: is any process left in it or below?"""
        return "populated 1" in (self.folder / "cgroup.events").read_text()

    def kill(self, below: str = "") -> None:
        """SIGKILL for everything in it (or in the cgroup `below` it), at once."""
        (self.folder / below / "cgroup.kill").write_text("1")

    def wait_empty(self, timeout: float) -> bool:
        """Waits until the kernel says it is empty, at most `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with (self.folder / "cgroup.events").open() as events:
            poll = select.poll()
            poll.register(events, select.POLLPRI)
            while True:
                events.seek(0)
                if "populated 0" in events.read():
                    return True
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                poll.poll(remaining * 1000)

    def remove(self) -> None:
        """Kills what is left, and removes it with everything inside."""
        self.kill()
        if not self.wait_empty(KILL_SECONDS):
            raise RuntimeError(f"{self.folder} still holds {self.processes()}")
        for folder, _, _ in os.walk(self.folder, topdown=False):
            os.rmdir(folder)


def unified_root() -> Path | None:
    """Where cgroup v2 is mounted: beside the old hierarchies, or alone."""
    for candidate in (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")):
        if (candidate / "cgroup.procs").exists():
            return candidate
    return None


def own_cgroup() -> Path | None:
    """The test process's own folder in the unified hierarchy."""
    root = unified_root()
    if root is None:
        return None
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, _, path = line.split(":", 2)
        if number == "0":
            # Outside the root of our cgroup namespace the path begins with /..: then the root is what we have.
            folder = root / path.lstrip("/")
            return folder if ".." not in path and folder.exists() else root
    return None


@dataclass(frozen=True)
class _Stat:
    """A line of /proc/PID/stat, as far as we need it."""

    pid: int
    comm: str = field(compare=False)
    alive: bool
    parent: int = field(compare=False)
    started: int


def parse_stat(text: str) -> _Stat:
    """/proc/PID/stat (proc(5)); the name stands in parentheses and may hold some itself."""
    number, _, rest = text.partition(" (")
    comm, _, tail = rest.rpartition(") ")
    fields = tail.split()
    # A zombie holds no memory, port or GPU; but a process of which the first thread alone has ended shows its letter.
    ended = fields[0] in "ZX" and int(fields[17]) <= 1
    return _Stat(pid=int(number), comm=comm, alive=not ended, parent=int(fields[1]), started=int(fields[19]))


def _stat(pid: int) -> _Stat | None:
    try:
        return parse_stat(Path(f"/proc/{pid}/stat").read_text(errors="backslashreplace"))
    except (FileNotFoundError, ProcessLookupError):
        return None


def _scan() -> dict[int, _Stat]:
    stats = (_stat(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {stat.pid: stat for stat in stats if stat is not None}


def _with_descendants(roots: Iterable[_Stat], stats: Mapping[int, _Stat]) -> list[_Stat]:
    children: dict[int, list[_Stat]] = {}
    for stat in stats.values():
        children.setdefault(stat.parent, []).append(stat)
    found, todo = [], list(roots)
    while todo:
        stat = todo.pop()
        found.append(stat)
        todo.extend(children.get(stat.pid, ()))
    return sorted(found, key=lambda stat: stat.pid)


def _merged(some: Iterable[_Stat], more: Iterable[_Stat]) -> list[_Stat]:
    return [stat for _, stat in sorted({stat.pid: stat for stat in (*some, *more)}.items())]


def _process(stat: _Stat) -> Process | None:
    try:
        words = Path(f"/proc/{stat.pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    cmdline = tuple(word.decode(errors="backslashreplace") for word in words)
    return Process(pid=stat.pid, comm=stat.comm, cmdline=cmdline, started=stat.started, parent=stat.parent)


def _pid_namespace(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def _wait_for_one(processes: Sequence[Process], timeout: float) -> None:
    """Until one of them has ended, at most `timeout` seconds."""
    poll, files = select.poll(), []
    try:
        for process in processes:
            try:
                file = os.pidfd_open(process.pid)
            except ProcessLookupError:
                return
            files.append(file)
            poll.register(file, select.POLLIN)
        poll.poll(max(timeout, 0) * 1000)
    finally:
        for file in files:
            os.close(file)


def _signal(process: Process, number: signal.Signals) -> None:
    """A signal for that very process: the pidfd is opened first, then the start is compared."""
    try:
        file = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        stat = _stat(process.pid)
        if stat is not None and stat.started == process.started:
            signal.pidfd_send_signal(file, number)
    except ProcessLookupError:
        pass
    finally:
        os.close(file)


def _is_reaper() -> bool:
    value = ctypes.c_int()
    _checked(_libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(value), 0, 0, 0))
    return bool(value.value)


def _set_reaper(on: bool) -> None:
    _checked(_libc.prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(on), 0, 0, 0))


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
