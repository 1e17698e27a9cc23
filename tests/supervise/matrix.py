"""The fault matrix: a signal to gpulaunch, in a phase of a server's life, over a shape of its process tree.

`python -m tests.supervise.matrix --rounds 20 --at-once 12 --seed 7` runs all of it, so often, in an order of chance; it
prints the seed and every failure, and nothing is tried again. Whoever is left is counted by a cgroup of the test, or by
descent from the test where none can be made; never by means of ours.

A round of 125 launches would spend most of its time importing modules, so gpulaunch is forked off a process that has
imported them; it then runs the same `main`. The default tests run the same cells with `python -m launcher`.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import faulthandler
import functools
import gc
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from launcher.selftest.engine.streams import text
from tests.helpers import eventually, free_port
from tests.hostiles import processes
from tests.launching import Launch
from tests.survivors import CgroupCorral, Corral

GRACE = "500ms"
SPAM = 30_000  # bytes of output that must be in the log
LAST_WORDS = "these are the last words"
PATIENCE = 60.0  # seconds until whatever must happen counts as not happening: many run at once
STACKS = 45.0  # seconds after which a launch that still runs shows where it stands
UNCOUNTED = 20.0  # seconds for the guard, after gpulaunch was killed

SIGNALS = {
    "TERM": (signal.SIGTERM,),
    "INT": (signal.SIGINT,),
    "HUP": (signal.SIGHUP,),
    "second INT": (signal.SIGINT, signal.SIGINT),
    "KILL": (signal.SIGKILL,),
}
CODES = {signal.SIGTERM: 0, signal.SIGINT: 130, signal.SIGHUP: 129, signal.SIGKILL: 128 + signal.SIGKILL}

# before exec: gpulaunch still plans, and asks an nvcc that waits at a FIFO. interpreter: the server is a script that
# waits at a FIFO before it would become the server.
PHASES = ("before exec", "interpreter", "loading", "ready", "stopping")

SHAPES = {
    "obedient": ("--worker", "--worker-in", "parents", "--ends-workers", "--drain", "0.2"),
    "ignores TERM": ("--ignore-term", "--worker", "--worker-ignores-term"),
    "setsid worker": ("--worker", "--worker", "--worker-setproctitle"),
    "double fork": ("--worker", "--worker", "--double-fork", "--worker-ignores-term", "--worker-setproctitle"),
    "leader dies first": ("--setproctitle", "--worker", "--worker-in", "group", "--worker-forks-on-term"),
}


@dataclass(frozen=True, order=True)
class Cell:
    """One of them, by its names."""

    signal: str
    phase: str
    shape: str

    def __str__(self) -> str:
        return f"{self.signal} / {self.phase} / {self.shape}"

    @property
    def first(self) -> signal.Signals:
        """The signal that begins the stop, and says the exit code: in `stopping` it is another one than the cell's."""
        if self.phase == "stopping" and self.signal != "KILL":
            return signal.SIGINT if "INT" in self.signal else signal.SIGTERM
        return SIGNALS[self.signal][0]

    @property
    def code(self) -> int:
        """What gpulaunch must return."""
        return CODES[self.first]

    @property
    def ends_in_order(self) -> bool:
        """True if the server has the time to speak its last words, and somebody to hear them."""
        if self.shape == "ignores TERM" or self.phase in ("before exec", "interpreter"):
            return False
        return self.signal == "HUP" if self.phase == "stopping" else self.signal in ("TERM", "INT", "HUP")


CELLS = tuple(Cell(*names) for names in itertools.product(SIGNALS, PHASES, SHAPES))

# A Latin square: every signal meets every phase and every shape, and every phase every shape.
PAIRS = tuple(
    Cell(number, phase, tuple(SHAPES)[(row + column) % len(SHAPES)])
    for row, number in enumerate(SIGNALS)
    for column, phase in enumerate(PHASES)
)


# ----------------------------------------------------------------------------------------------------------------------
# One cell


def new_corral() -> Corral:
    """The best that can be had here."""
    return Corral() if CgroupCorral.unavailable() else CgroupCorral()


class Forked(Launch):
    """gpulaunch as a fork of this process, which has imported its modules."""

    def run(self, command: Sequence[str], environ: Mapping[str, str], **popen: object) -> Launch:
        words = command[command.index("launcher") + 1 :]
        return super().run(["-"], environ, preexec_fn=functools.partial(become_gpulaunch, words, environ))


def become_gpulaunch(words: Sequence[str], environ: Mapping[str, str]) -> None:
    """What `python -m launcher WORDS` would do in a fresh process, but for the change to another interpreter. Does not
    return: exec never happens.
    """
    code = 125
    try:
        os.closerange(3, 1024)  # also the pipe at which our parent waits for an exec
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        faulthandler.dump_traceback_later(STACKS)  # on standard error, which a failure quotes
        os.environ.clear()
        os.environ.update(environ)
        from launcher.cli.entry import run

        code = run(words)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def run_cell(cell: Cell, folder: Path, kind: type[Launch] = Launch, port: int | None = None) -> None:
    """Carries it out. Raises AssertionError for whatever is not as it must be."""
    with new_corral() as corral:
        launch = kind(corral, folder, grace=GRACE, name=f"cell-{os.getpid()}-{folder.name}", port=port or free_port())
        bring_to(cell, launch)
        strike(cell, launch)
        code = launch.wait(PATIENCE)
        said = launch.errors
        assert code == cell.code, f"exit {code}, not {cell.code}: {said}"
        if cell.phase == "before exec" and cell.signal == "KILL":
            release(launch.folder / "cuda/bin/nvcc")
        left = corral.wait_empty(UNCOUNTED) if cell.signal == "KILL" else corral.survivors()
        assert left == [], f"left: {left}: {said}"
        if isinstance(corral, CgroupCorral) and corral.cgroup is not None:
            inside = [entry.name for entry in corral.cgroup.folder.iterdir() if entry.is_dir()]
            assert inside == [], f"cgroups left: {inside}"
        check_log(cell, launch)
        launch.remove_locks()


def bring_to(cell: Cell, launch: Launch) -> None:
    """Starts gpulaunch, and returns when it is in the phase, for certain."""
    folder = launch.folder
    flags: list[object] = [*SHAPES[cell.shape], "--spam", SPAM, "--spam-digest", folder / "wrote"]
    deaf = cell.shape == "ignores TERM"
    flags += ["--pid-file", folder / "pids", "--term-says", LAST_WORDS]
    if cell.phase == "loading":
        flags += ["--ready-after-file", folder / "never"]
    if cell.phase == "before exec":
        compiler = waiting_script(folder / "cuda/bin/nvcc", deaf=deaf)
        launch.start(*flags, environ={"CUDA_HOME": str(folder / "cuda")})
        wait_for(compiler)
        return
    if cell.phase == "interpreter":
        script = waiting_script(folder / "interpreter", deaf=deaf)
        launch.start(command=[str(script)])
        wait_for(script)
        return
    launch.start(*flags)
    if cell.phase == "loading":
        processes(folder / "pids")
    else:
        launch.until("gpulaunch: ready:", PATIENCE)
    eventually((folder / "wrote").exists, within=PATIENCE, what="the server writes its text")
    eventually(lambda: logged(launch) == expected(), within=PATIENCE, what="the log has it")
    if cell.phase == "stopping":
        launch.signal(signal.SIGINT if cell.first is signal.SIGKILL else cell.first).until("stopping", PATIENCE)


def waiting_script(path: Path, *, deaf: bool) -> Path:
    """A script that says that it runs, and waits at a FIFO, which nobody opens, before it would go on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for gate in (path.with_suffix(".in"), path.with_suffix(".out")):
        os.mkfifo(gate)
    deafness = "trap '' TERM INT HUP\n" if deaf else ""
    waits = f"echo here > {path.with_suffix('.in')}\nread word < {path.with_suffix('.out')}\n"
    path.write_text(f"#!/bin/sh\n{deafness}{waits}")
    path.chmod(0o755)
    return path


def release(script: Path) -> None:
    """A program that is only asked for its version ends by itself, as soon as nobody holds it up."""
    (script.with_suffix(".out")).write_text("go on\n")


def wait_for(script: Path) -> None:
    """Returns when it runs: until then nobody writes to its first FIFO."""
    assert script.with_suffix(".in").read_text() == "here\n"


def strike(cell: Cell, launch: Launch) -> None:
    """Sends the cell's signals. One that follows another of its kind is sent when the first has been heard."""
    assert launch.process is not None
    for count, number in enumerate(SIGNALS[cell.signal]):
        if count and cell.phase not in ("before exec", "stopping"):
            launch.until("stopping", PATIENCE)
        launch.process.send_signal(number)


def check_log(cell: Cell, launch: Launch) -> None:
    """Whatever the server has written is there, in order; also its last words, where it could speak them."""
    if cell.phase == "before exec":
        assert not (launch.folder / "pids").exists(), "the server was started"
        return
    if cell.phase == "interpreter":
        return
    assert logged(launch) == expected(), "the log is not complete"
    if cell.ends_in_order:
        assert LAST_WORDS.encode() in launch.log, f"no last words in {launch.log[-300:]!r}"


def logged(launch: Launch) -> str:
    """A digest of the server's numbered lines in the log, whatever stands before each."""
    try:
        lines = launch.log.splitlines(keepends=True)
    except OSError:
        return ""
    found = (re.search(rb"stdout \d{8} .*\n", line) for line in lines)
    return hashlib.sha256(b"".join(match[0] for match in found if match)).hexdigest()


@functools.cache
def expected() -> str:
    """The digest of whole lines in what the server wrote."""
    whole = re.findall(rb"stdout \d{8} .*\n", b"".join(text("stdout", SPAM)))
    return hashlib.sha256(b"".join(whole)).hexdigest()


# ----------------------------------------------------------------------------------------------------------------------
# All of them, many at once


@dataclass(frozen=True)
class Failure:
    """A cell that was not as it must be, and why."""

    cell: str
    round: int
    why: str


@dataclass(frozen=True)
class Result:
    """What became of all of them."""

    count: int
    seconds: float
    failures: tuple[Failure, ...]


def run_all(cells: Sequence[Cell], rounds: int, at_once: int, seed: int, folder: Path) -> Result:
    """Every cell `rounds` times, in an order that the seed decides."""
    warm_up(folder / "warm")
    expected()
    begin = time.monotonic()
    todo = [(number, cell) for number in range(rounds) for cell in cells]
    random.Random(seed).shuffle(todo)
    orders_out, orders_in = os.pipe()
    reports_out, reports_in = os.pipe()
    os.write(orders_in, b"".join(index.to_bytes(4, "big") for index in range(len(todo))))  # below 64 KiB
    os.close(orders_in)
    workers = [fork_worker(orders_out, reports_in, todo, folder / f"{number}") for number in range(at_once)]
    os.close(reports_in)
    os.close(orders_out)
    with os.fdopen(reports_out) as reports:
        told = [json.loads(line) for line in reports]
    for pid in workers:
        os.waitpid(pid, 0)
    failures = tuple(Failure(**report) for report in told if report)
    missing = len(todo) - len(told)
    if missing:
        failures += (Failure("-", -1, f"{missing} cells were not reported: a worker of the test has died"),)
    return Result(len(todo), time.monotonic() - begin, failures)


def warm_up(folder: Path) -> None:
    """Imports whatever a launch imports, by a check: whoever is forked off has it."""
    from launcher.cli import entry, group, story  # noqa: F401
    from launcher.cli.commands import launch as command  # noqa: F401

    folder.mkdir()
    launch = Launch(Corral(), folder)
    launch.profile()
    story.checked(story.Wish(profile=str(launch.file)), story.here())
    gc.freeze()  # pages that a collection would touch stay shared


def fork_worker(orders: int, reports: int, todo: Sequence[tuple[int, Cell]], folder: Path) -> int:
    """A process that takes cells until there are none."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        while order := os.read(orders, 4):
            number, cell = todo[int.from_bytes(order, "big")]
            where = folder / f"{int.from_bytes(order, 'big')}"
            where.mkdir(parents=True)
            why = outcome_of(cell, where, port_of(int.from_bytes(order, "big")))
            report = dataclasses.asdict(Failure(str(cell), number, why[:3000])) if why else {}
            os.write(reports, json.dumps(report).encode() + b"\n")
            if not why:
                shutil.rmtree(where)
        code = 0
    except BaseException:
        traceback.print_exc()
    os._exit(code)


def port_of(index: int) -> int:
    """A port of this cell's own, below those that the system gives away (32768 and more): two that are started at the
    same moment may both be told that one is free, and gpulaunch then refuses the later one, as it should.
    """
    for port in range(10_000 + index, 30_000, 4_001):
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                attempt.bind(("127.0.0.1", port))
                return port
    return free_port()


def outcome_of(cell: Cell, folder: Path, port: int) -> str:
    """Empty if all was as it must be."""
    try:
        run_cell(cell, folder, Forked, port)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


def lines(result: Result, seed: int, rounds: int, at_once: int) -> Iterator[str]:
    """For the log of a stage."""
    for failure in result.failures:
        yield f"FAILED {failure.cell} (round {failure.round}): {failure.why}"
    yield (
        f"fault matrix: {result.count} launches ({rounds} rounds, {at_once} at once, seed {seed}) in "
        f"{result.seconds:.0f} s, {len(result.failures)} failures"
    )


def run_in_its_own_process(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """It forks without exec, which a process with threads must not do: pytest may have some."""
    command = [sys.executable, "-m", "tests.supervise.matrix", *words]
    return subprocess.run(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only", default="", help="cells whose name has this")
    parser.add_argument("--pairs", action="store_true", help="25 cells in which every pair occurs")
    parser.add_argument("--folder", type=Path, help="for what is written; what belongs to a failure stays")
    options = parser.parse_args()
    cells = [cell for cell in (PAIRS if options.pairs else CELLS) if options.only in str(cell)]
    folder = options.folder or Path(tempfile.mkdtemp(prefix="matrix-"))
    folder.mkdir(exist_ok=True)
    result = run_all(cells, options.rounds, options.at_once, options.seed, folder)
    for line in lines(result, options.seed, options.rounds, options.at_once):
        print(line, flush=True)
    if not result.failures:
        shutil.rmtree(folder)
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
