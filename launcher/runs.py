"""What a run leaves behind: a folder with its plan, its events, its log and its outcome, and a link to the latest.

`<state>/runs/<profile>/<UTC start>-<run id>/`: plan.json, events.jsonl, processes.json, segments.json, outcome.json and
server.log. Folders 0700, files 0600 whatever the umask. Where the state folder cannot be written the run goes on
without a folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets as randomness
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from launcher import findings
from launcher.errors import Refused
from launcher.model import Finding, Outcome
from launcher.paths import Places
from launcher.private_files import make_private, matching, open_private, write_private

LOG = "server.log"
SEGMENTS = "segments.json"
_STAMP = "%Y%m%dT%H%M%SZ"


def log_files(folder: Path) -> tuple[Path, ...]:
    """The files of a run's log, the oldest first: `server.log.2`, `server.log.1`, `server.log`."""
    numbered = ((int(path.suffix[1:]), path) for path in folder.glob(f"{LOG}.*") if path.suffix[1:].isdecimal())
    older = [path for _, path in sorted(numbered, reverse=True)]
    current = folder / LOG
    return (*older, current) if current.exists() else tuple(older)


Identity = tuple[int, int]  # a pid and the start time of its process


@dataclass(frozen=True)
class Run:
    """One run. `folder` is None where nothing can be kept; every method then does nothing."""

    run_id: str
    profile: str
    folder: Path | None
    marks: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def instance(self) -> str:
        """The name that `gpulaunch stop` takes."""
        return self.marks.get("GPULAUNCH_INSTANCE", self.profile)

    @property
    def log_path(self) -> Path | None:
        """Where the server's output is kept."""
        return self.folder / LOG if self.folder else None

    def open_log(self) -> int | None:
        """A descriptor that appends to the log."""
        if self.log_path is None:
            return None
        try:
            return open_private(self.log_path, os.O_WRONLY | os.O_APPEND)
        except OSError:
            return None

    def event(self, name: str, **details: Any) -> None:
        """One line in events.jsonl."""
        if self.folder is None:
            return
        line = json.dumps({"at": _now().isoformat(timespec="milliseconds"), "event": name, **details}) + "\n"
        with contextlib.suppress(OSError):
            descriptor = open_private(self.folder / "events.jsonl", os.O_WRONLY | os.O_APPEND)
            try:
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)

    def record_processes(
        self, supervisor: Identity | None, leader: Identity, processes: Iterable[Identity], *, grace: float = 0.0
    ) -> None:
        """Which processes belong to the run, by pid and start time, who supervises it, and the grace of its stop."""
        document = {"supervisor": supervisor, "leader": leader, "processes": list(processes), "grace": grace}
        self._write("processes.json", {**document, "world": world()})

    def record_segments(self, segments: Iterable[tuple[str, int]]) -> None:
        """Which files in /dev/shm its processes were seen to map, by path and inode."""
        self._write(SEGMENTS, list(segments))

    def close(self, outcome: Outcome) -> None:
        """How it ended."""
        self._write("outcome.json", {"schema_version": 1, "run_id": self.run_id, **asdict(outcome)})

    def _write(self, name: str, document: Any) -> None:
        if self.folder is not None:
            with contextlib.suppress(OSError):
                write_private(self.folder / name, json.dumps(document, indent=2) + "\n")


@dataclass(frozen=True)
class Recorded:
    """A run as its folder tells it."""

    profile: str
    run_id: str
    folder: Path

    @property
    def log_path(self) -> Path:
        """Where the server's output is kept."""
        return self.folder / LOG

    def read(self, name: str) -> Any:
        """A JSON file of the folder, or None."""
        try:
            return json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None


def new_id() -> str:
    """A run's id: eight hexadecimal digits."""
    return randomness.token_hex(4)


def open_run(
    profile: str,
    places: Places,
    document: Mapping[str, Any],
    *,
    run_id: str | None = None,
    instance: str | None = None,
    now: datetime | None = None,
) -> Run:
    """A new run with its folder; a warning and no folder where the state cannot be written. `instance`: the profile's
    name unless given.
    """
    started = now or _now()
    run_id = run_id or new_id()
    folder: Path | None = Path(places.state, "runs", profile, f"{started.strftime(_STAMP)}-{run_id}")
    said: tuple[Finding, ...] = ()
    try:
        assert folder is not None
        make_private(folder)
        write_private(folder / "plan.json", json.dumps(document, indent=2) + "\n")
        _point_latest(folder)
    except OSError as error:
        said = (_unwritable(folder, error),)
        folder = None
    marks = {"GPULAUNCH_RUN_ID": run_id, "GPULAUNCH_PROFILE": profile, "GPULAUNCH_INSTANCE": instance or profile}
    if folder is not None:
        marks["GPULAUNCH_RUN_DIR"] = str(folder)
    return Run(run_id=run_id, profile=profile, folder=folder, marks=marks, findings=said)


def list_runs(places: Places, profile: str | None = None) -> tuple[Recorded, ...]:
    """Every recorded run, the latest first; where two began in one second, the one whose plan is younger."""
    return tuple(sorted(_recorded(Path(places.state, "runs"), profile), key=_began, reverse=True))


def latest_runs(places: Places) -> tuple[Recorded, ...]:
    """The latest run of each profile: found by the links beside them, however many runs there are."""
    found = []
    for link in matching(Path(places.state, "runs"), "*/latest"):
        with contextlib.suppress(OSError):
            folder = link.parent / link.readlink()
            found.append(Recorded(link.parent.name, folder.name.rpartition("-")[2], folder))
    return tuple(found)


def run_of_id(places: Places, run_id: str) -> Recorded | None:
    """The run with this very id, without a look at any other."""
    found = (path for path in matching(Path(places.state, "runs"), f"*/*-{run_id}") if run_id.isalnum())
    return next((Recorded(path.parent.name, run_id, path) for path in found), None)


def world() -> tuple[str, str]:
    """In which boot and in which pid namespace a pid and a start time mean something; empty where it is not known."""
    boot, namespace = "", ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    with contextlib.suppress(OSError):
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return boot, namespace


def find_run(places: Places, reference: str | None) -> Recorded:
    """The latest run, of a profile or of all, or the one whose id begins so. Raises Refused (78)."""
    every = list_runs(places)
    if reference is None:
        found = every
    else:
        found = tuple(run for run in every if run.profile == reference or run.run_id.startswith(reference))
    if not found:
        what = f"No run of {reference} is recorded." if reference else "No run is recorded."
        fix = (
            f"Name a profile that ran, or a run id: {', '.join(sorted({run.profile for run in every})) or 'none yet'}."
        )
        raise Refused([findings.error("no-such-run", what, fix=fix)])
    return found[0]


def _recorded(runs: Path, profile: str | None) -> Iterator[Recorded]:
    try:
        profiles = [runs / profile] if profile else sorted(runs.iterdir())
        for folder in profiles:
            for run in sorted(folder.iterdir()):
                if not run.is_symlink() and run.is_dir():
                    yield Recorded(folder.name, run.name.rpartition("-")[2], run)
    except OSError:
        return


def _began(run: Recorded) -> tuple[str, int]:
    try:
        written = (run.folder / "plan.json").stat().st_mtime_ns
    except OSError:
        written = 0
    return run.folder.name.partition("-")[0], written


def _point_latest(folder: Path) -> None:
    beside = folder.with_name(f".latest.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    beside.symlink_to(folder.name)
    beside.replace(folder.with_name("latest"))


def _unwritable(folder: Path | None, error: OSError) -> Finding:
    return findings.warning(
        "state-unwritable",
        f"The run folder {folder} cannot be written: {error.strerror}; the log goes to the terminal only.",
        fix="Set XDG_STATE_HOME, or StateDirectory= in the unit, to a writable folder.",
    )


def _now() -> datetime:
    return datetime.now(timezone.utc)
