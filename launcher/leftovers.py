"""What earlier runs left behind: processes, cgroups, segments in /dev/shm, locks; removed only with proof.

A run is over when its supervisor is: the run's folder names it by pid, start time, boot and pid namespace. Then
whatever of it still lives is left over (sgl-project/sglang#23627, vllm-project/vllm-omni#2317). Proof is, for a
process: it stands in the folder with its start time, or bears the run's mark (`supervise.run_mark`, or
GPULAUNCH_RUN_ID in its environment). Of a run whose folder is not here (a removed container's, another user's state) a
live supervisor would be above every process of it, as their sub-reaper, and bear the limit's mark without the
environment's: where the topmost bearer has both, there is none. For a segment: it is younger than the run, the run's
processes were seen to map that very inode, and nobody has it now. All else is only told. The processes of a running
run, and whoever calls us, are never touched.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from launcher import findings, instances
from launcher.model import Finding
from launcher.paths import Places
from launcher.runs import SEGMENTS, Recorded, latest_runs, list_runs, run_of_id, world
from launcher.supervise import cgroup, guard, processes, run_mark, segments
from launcher.supervise.naming import command_of, user_of
from launcher.supervise.processes import Process
from launcher.supervise.segments import FOLDER, Segment

_MARK = b"GPULAUNCH_RUN_ID="
_GUARD = "from launcher.supervise import guard"
GUARDS_TIME = 10.0  # seconds: its grace and its kill, and something for a busy machine
_LOOK = 0.1
_CGROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
# What NCCL, Python and torch call their segments: worth a word where nobody has them, never more.
_USUAL = ("nccl-", "psm_", "sem.mp-", "torch_")
_OLD = 60.0  # seconds: a younger one may be on its way from its maker to its reader


State = Literal["running", "over", "unknown"]  # of a run


@dataclass(frozen=True)
class Leftover:
    """One thing. `name` is a pid or a path, `how` the evidence as a clause; `ours`: proven, so it may be removed."""

    kind: Literal["process", "cgroup", "segment", "lock"]
    name: str
    run_id: str | None
    what: str
    how: str
    ours: bool
    process: Process | None = None
    size: int = 0  # bytes, of a segment

    def __str__(self) -> str:
        if self.kind == "process":
            return f"process {self.name} ({self.what})"
        return f"{self.name} ({self.size // 1024} KiB)" if self.kind == "segment" else self.name


@dataclass(frozen=True)
class Machine:
    """Where to look; in tests a described one. Not `thorough`: of each profile's runs the record of the latest alone is
    read, as a start has no time for thousands; marks are found of any.
    """

    places: Places
    shm: str = FOLDER
    cgroups: tuple[Path, ...] = _CGROUPS
    thorough: bool = True
    _states: dict[str, State] = field(default_factory=dict)

    @cached_property
    def runs(self) -> dict[str, Recorded]:
        """The recorded runs by their ids."""
        found = list_runs(self.places) if self.thorough else latest_runs(self.places)
        return {run.run_id: run for run in found}

    @cached_property
    def locked(self) -> frozenset[str]:
        """Runs that hold the lock of an instance."""
        return frozenset(entry.run_id for entry in instances.running(self.places.locks))

    @cached_property
    def guarded(self) -> frozenset[str]:
        """Asked once."""
        return guarded()

    def record(self, run_id: str) -> Recorded | None:
        """Of this very run."""
        return self.runs.get(run_id) or run_of_id(self.places, run_id)

    def state(self, run_id: str) -> State:
        """Over is a recorded run that has an outcome, or whose supervisor is known to be gone: told by the same boot in
        the same pid namespace, where a pid means the same.
        """
        if run_id not in self._states:
            self._states[run_id] = "running" if run_id in self.locked else self._judged(run_id)
        return self._states[run_id]

    def _judged(self, run_id: str) -> State:
        run = self.record(run_id)
        told = _telling(run)
        here = told.get("world") == list(world())
        supervisor = _as_process(told.get("supervisor"))
        if here and supervisor is not None and processes.is_alive(supervisor):
            return "running"
        if run is not None and run.read("outcome.json") is not None:
            return "over"
        if run_id in self.guarded:
            return "running"
        return "over" if here and supervisor is not None else "unknown"


def look(machine: Machine) -> tuple[Leftover, ...]:
    """Everything that is left, the proven first; processes by pid."""
    found = (*_processes(machine), *_cgroups(machine), *_segments(machine), *_locks(machine))
    return tuple(sorted(found, key=lambda entry: (not entry.ours, entry.kind != "process", entry.name)))


def at_start(places: Places) -> Iterator[Finding]:
    """A warning for each proven process and segment of the runs that are recorded here, found in milliseconds. The rest
    `clean` tells, also what other users and containers left.
    """
    machine = Machine(places, thorough=False)
    for entry in (*_processes(machine), *_segments(machine)):
        if entry.ours and machine.state(entry.run_id or "") == "over":
            what = f"{str(entry)[:1].upper()}{str(entry)[1:]}"
            sentence = f"{what} is left of an earlier run: {entry.how}."
            yield findings.warning("leftover", sentence, fix="gpulaunch clean")


def await_guards(run_ids: Collection[str], say: Callable[[str], None]) -> None:
    """Where a launcher was killed a moment ago, its guard is still ending what it left: waits for it, within bounds.

    A restart by a unit is faster than that (vllm-project/vllm#9737: wait only if the holder is ours).
    """
    until = time.monotonic() + GUARDS_TIME
    at_work = [process for run_id, process in guards() if run_id in run_ids] if run_ids else []
    if at_work:
        say("waiting until the guard of an earlier run has ended what was left of it")
    while any(map(processes.is_alive, at_work)) and time.monotonic() < until:
        time.sleep(_LOOK)


def clean(machine: Machine, found: Iterable[Leftover]) -> tuple[Leftover, ...]:
    """Removes what is proven; what of it is still there afterwards, best nothing. TERM first, KILL 3 s later."""
    proven = [entry for entry in found if entry.ours]
    for run_id in dict.fromkeys(entry.run_id for entry in proven if entry.run_id):
        mine = [entry for entry in proven if entry.run_id == run_id]
        folder = next((entry.name for entry in mine if entry.kind == "cgroup"), "")
        told = {entry.process for entry in mine if entry.process is not None}
        if told or folder:
            guard.empty(told, run_id, folder, spared=_ourselves())
    for entry in proven:
        if entry.kind == "segment":
            _unlink(entry)
    instances.sweep(machine.places.locks, machine.guarded)
    return tuple(entry for entry in proven if _is_there(entry))


# ----------------------------------------------------------------------------------------------------------------------
# Processes


def _processes(machine: Machine) -> Iterator[Leftover]:
    us = _ourselves()
    found: dict[Process, Leftover] = {}
    for run_id in machine.runs:
        left = [process for process in _recorded(machine.runs[run_id]) if processes.is_alive(process)]
        if left and machine.state(run_id) == "over":
            for process in left:
                if process.pid not in us:
                    found[process] = _process(process, run_id, "its pid and start time stand in the run's folder", True)
    for process, run_id, in_limit, in_environ in _bearers():
        if process.pid in us or process in found or machine.state(run_id) == "running":
            continue
        proof, how = _proof(machine, process, run_id, in_limit=in_limit, in_environ=in_environ)
        found[process] = _process(process, run_id, how, proof)
    yield from found.values()


def _proof(machine: Machine, process: Process, run_id: str, *, in_limit: bool, in_environ: bool) -> tuple[bool, str]:
    """Whether a bearer of a mark is left over for sure, and how that is known."""
    where = "in a resource limit" if in_limit else "in its environment"
    if os.geteuid() not in (0, _uid(process)):
        return False, f"it bears the mark of run {run_id} {where}, and is another user's"
    if machine.state(run_id) == "over":
        return True, f"it bears the mark of run {run_id} {where}, whose supervisor is gone"
    if machine.record(run_id) is not None:
        return False, f"it bears the mark of run {run_id} {where}, of which it is not known whether it is over"
    top = _topmost(process.pid, run_id)
    if in_limit and _environ_mark(top) == run_id:
        return True, f"it bears the mark of run {run_id} {where}, and no supervisor is above it"
    return False, f"it bears the mark of run {run_id} {where}, of which there is no record here"


def _uid(process: Process) -> int | None:
    try:
        return os.stat(f"/proc/{process.pid}").st_uid
    except OSError:
        return None


def _process(process: Process, run_id: str, how: str, ours: bool) -> Leftover:
    what = f"{command_of(process.pid) or 'gone'}, user {user_of(process.pid) or 'unknown'}"
    return Leftover("process", str(process.pid), run_id, what, how, ours, process)


def _bearers() -> Iterator[tuple[Process, str, bool, bool]]:
    """Every process with a mark: its run, and whether the limit and the environment say so."""
    for pid in processes.everybody():
        limit, environ = run_mark.run_of(pid), _environ_mark(pid)
        run_id = limit or environ
        process = processes.identify(pid) if run_id else None
        if run_id and process is not None and processes.is_alive(process):
            yield process, run_id, limit is not None, environ is not None


def _environ_mark(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - everybody's is read, and pathlib is slow
            text = file.read()
    except OSError:
        return None
    if _MARK not in text:
        return None
    marks = (entry for entry in text.split(b"\0") if entry.startswith(_MARK))
    return next((mark[len(_MARK) :].decode("ascii", "replace") for mark in marks), None)


def _topmost(pid: int, run_id: str) -> int:
    """The highest above a process that bears the same mark in its limit."""
    while (found := processes.status(pid)) is not None and run_mark.run_of(found.parent) == run_id:
        pid = found.parent
    return pid


def _ourselves() -> frozenset[int]:
    """We, and whoever called us: a shell in a server's own environment has its mark too."""
    pids, pid = set(), os.getpid()
    while pid > 0 and (found := processes.status(pid)) is not None:
        pids.add(pid)
        pid = found.parent
    return frozenset(pids)


def _recorded(run: Recorded) -> list[Process]:
    """Those of the last telling; none where pids mean something else."""
    told = _telling(run)
    if told.get("world") != list(world()):
        return []
    found = (_as_process(entry) for entry in told.get("processes") or ())
    return [process for process in found if process is not None]


def _telling(run: Recorded | None) -> dict[str, Any]:
    """What the supervisor wrote down last; empty where that is nothing."""
    told = run.read("processes.json") if run is not None else None
    return told if isinstance(told, dict) else {}


def _as_process(told: object) -> Process | None:
    """A pid and a start time of a record; None for anything else."""
    match told:
        case [int(pid), int(start)]:
            return Process(pid, start)
    return None


def guarded() -> frozenset[str]:
    """Runs that have a guard: their launcher lives, be it another user's or a container's below us, or the guard is
    ending what it left.
    """
    return frozenset(run_id for run_id, _ in guards())


def guards() -> Iterator[tuple[str, Process]]:
    """Every guard, with its run: the second word after its program, see `supervise.guarding`."""
    for pid in processes.everybody():
        words = processes.command_line(pid)
        program = next((position for position, word in enumerate(words) if _GUARD in word), len(words))
        process = processes.identify(pid) if len(words) > program + 2 else None
        if process is not None:
            yield words[program + 2], process


# ----------------------------------------------------------------------------------------------------------------------
# Cgroups and segments


def _cgroups(machine: Machine) -> Iterator[Leftover]:
    """Those that a supervisor made for a run that is over."""
    for root in machine.cgroups:
        for folder in _made_cgroups(root) if (root / "cgroup.procs").exists() else ():
            run_id = folder.name.removeprefix("gpulaunch-")
            if not folder.is_dir() or machine.state(run_id) == "running":
                continue
            over = machine.state(run_id) == "over"
            count = len(cgroup.members(folder))
            what = f"{count} processes" if count else "empty"
            how = f"made for run {run_id}, " + ("which is over" if over else "of which there is no record here")
            yield Leftover("cgroup", str(folder), run_id, what, how, over)


def _made_cgroups(root: Path) -> list[Path]:
    """By their name. os.walk passes over what vanishes meanwhile, a glob raises."""
    return sorted(
        Path(above, name) for above, names, _ in os.walk(root) for name in names if name.startswith("gpulaunch-")
    )


def _locks(machine: Machine) -> Iterator[Leftover]:
    """Files of locks whose holder is gone: they count for nothing."""
    for path, holder in instances.stale(machine.places.locks):
        if holder.run_id in machine.guarded:
            continue
        yield Leftover("lock", str(path), holder.run_id, "", f"its holder, process {holder.pid}, is gone", True)


def _segments(machine: Machine) -> Iterator[Leftover]:
    there = {seg: status for seg, status in segments.present(machine.shm).items() if status.st_uid == os.geteuid()}
    makers = _makers(machine, there) if there else {}
    usual = {segment for segment in there if _is_usual(segment)} if machine.thorough else set()
    used = _in_use() if makers or usual else set()
    for segment, status in there.items():
        run_ids = makers.get(segment, [])
        if segment.inode in used or any(machine.state(run_id) == "running" for run_id in run_ids):
            continue
        if run_ids:
            over = all(machine.state(run_id) == "over" for run_id in run_ids)
            how = f"processes of run {run_ids[-1]} had it mapped, and nobody has it now"
            yield Leftover("segment", segment.path, run_ids[-1], "", how, over, size=status.st_size)
        elif segment in usual and time.time() - status.st_mtime > _OLD:
            how = "nobody has it, and no run of ours was seen to make it"
            yield Leftover("segment", segment.path, None, "", how, False, size=status.st_size)


def _makers(machine: Machine, there: Collection[Segment]) -> dict[Segment, list[str]]:
    """Which runs' processes were seen to map a segment that is there."""
    made: dict[Segment, list[str]] = {}
    for run_id, run in machine.runs.items():
        for entry in run.read(SEGMENTS) or ():
            match entry:
                case [str(path), int(inode)] if Segment(path, inode) in there:
                    made.setdefault(Segment(path, inode), []).append(run_id)
    return made


def _in_use() -> set[int]:
    """Inodes in /dev/shm that some process maps or has open, as far as this user may see."""
    return {
        segment.inode for pid in processes.everybody() for segment in (*segments.mapped(pid), *segments.opened(pid))
    }


def _is_usual(segment: Segment) -> bool:
    return segment.path.rpartition("/")[2].startswith(_USUAL)


def _unlink(entry: Leftover) -> None:
    try:
        os.unlink(entry.name)
    except OSError:
        return


def _is_there(entry: Leftover) -> bool:
    if entry.process is not None:
        return processes.is_alive(entry.process)
    return os.path.lexists(entry.name)
