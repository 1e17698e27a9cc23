"""What earlier runs left behind: processes, cgroups, segments in /dev/shm; found by evidence, removed only with proof.

A run is over when its supervisor is: the run's folder names it by pid and start time. Then whatever of it still lives
is left over (sgl-project/sglang#23627, vllm-project/vllm-omni#2317). Proof is, for a process: it stands in the folder
with its start time, or bears the run's mark (`supervise.run_mark`, or GPULAUNCH_RUN_ID in its environment). Of a run
whose folder is not here (a removed container's, another user's state) a live supervisor would be above every process of
it, as their sub-reaper, and bear the limit's mark without the environment's: where the topmost bearer has both, there
is none. For a segment: the run's processes were seen to map that very inode, and nobody has it now. All else is only
told. The processes of a running run, and whoever calls us, are never touched.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from launcher import findings, instances
from launcher.model import Finding
from launcher.paths import Places
from launcher.runs import SEGMENTS, Recorded, list_runs
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


@dataclass(frozen=True)
class Leftover:
    """One thing. `name` is a pid or a path, `how` the evidence as a clause; `ours`: proven, so it may be removed."""

    kind: Literal["process", "cgroup", "segment"]
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
        return f"{self.name}{f' ({self.size // 1024} KiB)' if self.kind == 'segment' else ''}"


@dataclass(frozen=True)
class Machine:
    """Where to look; in tests a described one."""

    places: Places
    shm: str = FOLDER
    cgroups: tuple[Path, ...] = _CGROUPS

    @cached_property
    def runs(self) -> dict[str, Recorded]:
        """Every recorded run by its id."""
        return {run.run_id: run for run in list_runs(self.places)}

    @cached_property
    def running(self) -> frozenset[str]:
        """Runs that are not over: the supervisor lives, or holds the instance's lock."""
        locked = {entry.run_id for entry in instances.running(self.places.locks)}
        return frozenset(locked | {run_id for run_id, run in self.runs.items() if _supervisor_lives(run)})

    def is_over(self, run_id: str) -> bool:
        """True for a recorded run whose supervisor is known to be gone."""
        run = self.runs.get(run_id)
        if run is None or run_id in self.running:
            return False
        return run.read("processes.json") is not None or run.read("outcome.json") is not None


def look(machine: Machine) -> tuple[Leftover, ...]:
    """Everything that is left, the proven first; processes by pid."""
    found = (*_processes(machine), *_cgroups(machine), *_segments(machine))
    return tuple(sorted(found, key=lambda entry: (not entry.ours, entry.kind != "process", entry.name)))


def told(found: Iterable[Leftover]) -> Iterator[Finding]:
    """A warning for each process and each proven segment; empty cgroups harm nobody, and the rest `clean` tells."""
    for entry in found:
        if entry.kind == "process" or (entry.kind == "segment" and entry.ours):
            what = f"{str(entry)[:1].upper()}{str(entry)[1:]}"
            fix = "gpulaunch clean" if entry.ours else "Look at it yourself: gpulaunch clean does not touch it."
            yield findings.warning("leftover", f"{what} is left of an earlier run: {entry.how}.", fix=fix)


def await_guards(machine: Machine, say: Callable[[str], None]) -> None:
    """Where a launcher was killed a moment ago, its guard is still ending what it left: waits for it, within bounds.

    A restart by a unit is faster than that (vllm-project/vllm#9737: wait only if the holder is ours).
    """
    until = time.monotonic() + GUARDS_TIME
    guards = [process for run_id, process in _guards() if run_id not in machine.running]
    if guards:
        say("waiting until the guard of an earlier run has ended what was left of it")
    while any(map(processes.is_alive, guards)) and time.monotonic() < until:
        time.sleep(_LOOK)


def clean(machine: Machine, found: Iterable[Leftover]) -> tuple[Leftover, ...]:
    """Removes what is proven; what of it is still there afterwards, best nothing. TERM first, KILL 3 s later."""
    proven = [entry for entry in found if entry.ours]
    for run_id in dict.fromkeys(entry.run_id for entry in proven if entry.run_id):
        mine = [entry for entry in proven if entry.run_id == run_id]
        folder = next((entry.name for entry in mine if entry.kind == "cgroup"), "")
        told = {entry.process for entry in mine if entry.process is not None}
        if told or folder:
            guard.empty(told, run_id, folder)
    for entry in proven:
        if entry.kind == "segment":
            _unlink(entry)
    return tuple(entry for entry in proven if _is_there(entry))


# ----------------------------------------------------------------------------------------------------------------------
# Processes


def _processes(machine: Machine) -> Iterator[Leftover]:
    us = _ourselves()
    found: dict[Process, Leftover] = {}
    for run_id in machine.runs:
        if machine.is_over(run_id):
            for process in _recorded(machine.runs[run_id]):
                if processes.is_alive(process) and process.pid not in us:
                    found[process] = _process(process, run_id, "its pid and start time stand in the run's folder", True)
    for process, run_id, in_limit, in_environ in _bearers():
        if process.pid in us or process in found or run_id in machine.running:
            continue
        proof, how = _proof(machine, process, run_id, in_limit=in_limit, in_environ=in_environ)
        found[process] = _process(process, run_id, how, proof)
    yield from found.values()


def _proof(
    machine: Machine, process: Process, run_id: str, *, in_limit: bool, in_environ: bool
) -> tuple[bool, str]:
    """Whether a bearer of a mark is left over for sure, and how that is known."""
    where = "in a resource limit" if in_limit else "in its environment"
    if os.stat(f"/proc/{process.pid}").st_uid != os.geteuid() and os.geteuid() != 0:
        return False, f"it bears the mark of run {run_id} {where}, and is another user's"
    if machine.is_over(run_id):
        return True, f"it bears the mark of run {run_id} {where}, whose supervisor is gone"
    if run_id in machine.runs:
        return False, f"it bears the mark of run {run_id}, of which nobody wrote down who supervises it"
    top = _topmost(process.pid, run_id)
    if in_limit and _environ_mark(top) == run_id:
        return True, f"it bears the mark of run {run_id} {where}, and no supervisor is above it"
    return False, f"it bears the mark of run {run_id} {where}, of which there is no record here"


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
        with open(f"/proc/{pid}/environ", "rb") as file:
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
    try:
        record = run.read("processes.json") or {}
        return [Process(int(pid), int(start)) for pid, start in record.get("processes", ())]
    except (AttributeError, TypeError, ValueError):
        return []


def _supervisor_lives(run: Recorded) -> bool:
    record = run.read("processes.json")
    try:
        return processes.is_alive(Process(*map(int, record["supervisor"])))
    except (KeyError, TypeError, ValueError):
        return False


def _guards() -> Iterator[tuple[str, Process]]:
    """Guards at work, with the run of each."""
    for pid in processes.everybody():
        words = processes.command_line(pid)
        if len(words) > 2 and any(_GUARD in word for word in words):
            process = processes.identify(pid)
            if process is not None:
                yield words[-2], process


# ----------------------------------------------------------------------------------------------------------------------
# Cgroups and segments


def _cgroups(machine: Machine) -> Iterator[Leftover]:
    """Those that a supervisor made for a run that is over."""
    for root in machine.cgroups:
        for folder in sorted(root.glob("**/gpulaunch-*")) if (root / "cgroup.procs").exists() else ():
            run_id = folder.name.removeprefix("gpulaunch-")
            if not folder.is_dir() or run_id in machine.running:
                continue
            over = machine.is_over(run_id)
            count = len(cgroup.members(folder))
            what = f"{count} processes" if count else "empty"
            how = f"made for run {run_id}, " + ("which is over" if over else "of which there is no record here")
            yield Leftover("cgroup", str(folder), run_id, what, how, over)


def _segments(machine: Machine) -> Iterator[Leftover]:
    there = {segment: status for segment, status in _in(machine.shm) if status.st_uid == os.geteuid()}
    if not there:
        return
    makers = _makers(machine)
    used = _in_use() if makers or any(_is_usual(segment) for segment in there) else set()
    for segment, status in there.items():
        if segment.inode in used:
            continue
        run_id = makers.get(segment)
        if run_id is not None and run_id not in machine.running:
            how = f"processes of run {run_id} had it mapped, and nobody has it now"
            yield Leftover("segment", segment.path, run_id, "", how, machine.is_over(run_id), size=status.st_size)
        elif run_id is None and _is_usual(segment) and time.time() - status.st_mtime > _OLD:
            how = "nobody has it, and no run of ours was seen to make it"
            yield Leftover("segment", segment.path, None, "", how, False, size=status.st_size)


def _in(folder: str) -> Iterator[tuple[Segment, os.stat_result]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield Segment(entry.path, status.st_ino), status
    except OSError:
        return


def _makers(machine: Machine) -> dict[Segment, str]:
    """Which run's processes were seen to map a segment."""
    made = {}
    for run_id, run in machine.runs.items():
        try:
            made.update({Segment(str(path), int(inode)): run_id for path, inode in run.read(SEGMENTS) or ()})
        except (TypeError, ValueError):
            continue
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
