"""How fast the server's output reaches the log: gpulaunch beside supervisord's plain copy and s6-log with its stamps.

    python benchmarks/capture.py [--mib 1024] [--rounds 3]

A producer copies a file of 120-byte lines to its standard output in writes of 64 KiB: through a real `gpulaunch
command` with stamps and with masking (one line of a hundred thousand holds the value of a secret variable), to a
`stdout_logfile` of supervisord, and through a pipe to `s6-log t`. The time runs from the producer's first byte until
the last change of the log. Every line of gpulaunch's log is then compared with the file. Memory is VmHWM of the process
that reads, before it ends.

Two kinds of lines: `numbered`, a number and a filler; `access`, what an inference server says of each request. Rounds
take turns, ratios are those of one round, the median counts. Targets (for `numbered`): 1.0 of supervisord's time, 0.5
of s6-log's, 40 MiB. Exit code 1 for a line that was lost or changed, or for memory that grows; slow machines fail
nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECRET = "hf_N0bodysT0kenForTheBenchmark"
WIDTH = 120
SELDOM = 100_000  # lines of which one holds the secret
ACCESS = b'(APIServer pid=4242) INFO:     127.0.0.1:54321 - "POST /v1/chat/completions HTTP/1.1" 200 OK request '
KINDS = {"numbered": b"", "access": ACCESS}
STAMP = len(b"2026-12-03T00:00:00.000Z out ")
MARK = re.compile(rb"(?m)^[-0-9]{10}T[:.0-9]{12}Z out ")
GROWTH = 10.0  # MiB that a copy may add to what gpulaunch has before it
PATIENCE = 600.0  # seconds for one copy
PRODUCER = """
import os, sys, time
source = os.open(sys.argv[1], os.O_RDONLY)
open(sys.argv[2] + ".part", "w").write(repr(time.time()))
os.rename(sys.argv[2] + ".part", sys.argv[2])
while block := os.read(source, 1 << 16):
    os.write(1, block)
while not os.path.exists(sys.argv[3]):  # whoever reads us must live until it was looked at
    time.sleep(0.05)
"""


@dataclass(frozen=True)
class Measured:
    """One copy: wall and CPU seconds, MiB at most in the end and when the producer had just begun."""

    seconds: float
    cpu: float
    memory: float
    at_first: float


@dataclass(frozen=True)
class Lab:
    """One folder with the file to copy and all that is written."""

    folder: Path
    source: Path
    peers: Path  # the bin folder of supervisord's virtual environment

    @property
    def producer(self) -> list[str]:
        """The command line of the producer."""
        script, began, done = self.folder / "producer.py", self.folder / "began", self.folder / "done"
        script.write_text(PRODUCER)
        for mark in (began, done):
            mark.unlink(missing_ok=True)
        return [sys.executable, str(script), str(self.source), str(began), str(done)]

    def warm(self, size: int) -> None:
        """Fills the page cache once: on a virtual machine the first touch of memory costs its host's time, and who is
        measured first would pay for it.
        """
        filler = self.folder / "filler"
        with filler.open("wb") as file:
            for _ in range(size >> 20):
                file.write(bytes(1 << 20))
        filler.unlink()

    def measure(self, reader: int, size: int, logs: Callable[[], list[Path]]) -> Measured:
        """Waits until the logs have this size, looks at the reader and lets the producer end."""
        until = time.monotonic() + PATIENCE
        began = self.folder / "began"
        at_first = 0.0
        while not began.exists() or sum(map(size_of, logs())) < size:
            if time.monotonic() > until:
                raise SystemExit(f"not within {PATIENCE:g} s: {size} bytes in {logs()}")
            if not at_first and began.exists():
                at_first = peak(reader)
            time.sleep(0.05)  # looking costs a core that a reader with threads has a use for
        seconds = max(log.stat().st_mtime for log in logs()) - float(began.read_text())
        memory = peak(reader)
        times = Path(f"/proc/{reader}/stat").read_text().rpartition(") ")[2].split()[11:13]
        (self.folder / "done").touch()
        return Measured(seconds, sum(map(int, times)) / os.sysconf("SC_CLK_TCK"), memory, at_first)


def peak(pid: int) -> float:
    """The most memory that the process had so far, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def size_of(log: Path) -> int:
    """0 for one that was renamed since it was listed."""
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0


def main() -> int:
    """Prints each copy and the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if shutil.which("s6-log") is None:
        print("s6-log is not here: sh ci/install_peers.sh", file=sys.stderr)
        return 69
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.executable, "-m", "venv", f"{name}/peers"], check=True)
        pip = [f"{name}/peers/bin/pip", "install", "-q", "supervisor==4.3.0", "setuptools<81"]
        subprocess.run(pip, check=True)
        good = [compare(Path(name), kind, options.mib << 20, options.rounds) for kind in KINDS]
    return 0 if all(good) else 1


def compare(folder: Path, kind: str, size: int, rounds: int) -> bool:
    """All rounds with one kind of lines. False for a fault."""
    lab = Lab(folder, folder / "source", folder / "peers/bin")
    count = write_source(lab.source, KINDS[kind], size)
    print(f"{kind}: {count} lines, {size >> 20} MiB")
    ways = {"gpulaunch": through_gpulaunch, "supervisord": through_supervisord, "s6-log t": through_s6_log}
    measured: dict[str, list[Measured]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, copy in ways.items():
            lab.warm(2 * size)
            one = copy(lab)
            measured[way].append(one)
            print(f"  {way:12} {one.seconds:6.2f} s {one.cpu:6.2f} s CPU {one.memory:6.1f} MiB", flush=True)
    ours = measured["gpulaunch"]
    for peer, target in (("supervisord", 1.0), ("s6-log t", 0.5)):
        ratio = statistics.median(our.seconds / their.seconds for our, their in zip(ours, measured[peer], strict=True))
        print(f"  gpulaunch's time / that of {peer:12} {ratio:5.2f}  (median of {rounds}; target {target})")
    memory = max(one.memory for one in ours)
    growth = max(one.memory - one.at_first for one in ours)
    print(f"  memory of gpulaunch at most {memory:.1f} MiB (target 40), of which the copy took {growth:.1f}")
    return growth < GROWTH


def write_source(path: Path, begin: bytes, size: int) -> int:
    """Lines that differ in their number, of which some hold the secret; how many there are."""
    count, tail = size // WIDTH, b" HF_TOKEN=" + SECRET.encode() + b" "
    with path.open("wb") as file:
        for first in range(0, count, SELDOM):
            last = min(first + SELDOM, count)
            lines = [(begin + b"%09d" % number).ljust(WIDTH - 1, b".") + b"\n" for number in range(first, last)]
            lines[0] = (b"%09d" % first + tail).ljust(WIDTH - 1, b".") + b"\n"
            file.write(b"".join(lines))
    return count


def through_gpulaunch(lab: Lab) -> Measured:
    """A launch as a user makes it, its own streams to nowhere. Raises SystemExit where a line is not as it was sent."""
    profile, state = lab.folder / "bench.yaml", lab.folder / "state"
    keys = {
        "schema": 1, "name": "bench", "engine": "command", "ready": "none", "command": lab.producer,
        "env": {"pass": ["HF_TOKEN"]}, "log": {"keep": 1000},
    }  # fmt: skip
    profile.write_text(json.dumps(keys))  # JSON is YAML
    profile.chmod(0o600)
    environ = {**os.environ, "HF_TOKEN": SECRET, "XDG_STATE_HOME": str(state)}
    command = [sys.executable, "-m", "launcher", "command", "--profile", str(profile), "--name", f"bench-{os.getpid()}"]
    count = lab.source.stat().st_size // WIDTH
    masked = -(-count // SELDOM) * (len(SECRET) - len("***"))
    launch = subprocess.Popen(
        command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        run = state / "gpulaunch/runs/bench/latest"
        size = count * (WIDTH + STAMP) - masked
        found = lab.measure(launch.pid, size, lambda: list(run.glob("server.log*")))
        launch.wait(60)  # with 1: nobody asked the producer to end
        check(lab.source, run)
    finally:
        launch.kill()
        launch.wait()
        shutil.rmtree(state)
    return found


def check(source: Path, run: Path) -> None:
    """Every line of the source, in its order, with the secret masked and one stamp."""
    logs = sorted(run.glob("server.log.*"), key=lambda log: int(log.suffix[1:]), reverse=True)
    with source.open("rb") as sent:
        for log in (*logs, run / "server.log"):
            with log.open("rb") as file:
                while lines := file.read(1 << 22) + file.readline():
                    bare = MARK.sub(b"", lines)
                    expected = b"".join(sent.readline() for _ in range(lines.count(b"\n")))
                    if bare != expected.replace(SECRET.encode(), b"***"):
                        raise SystemExit(f"{log.name} is not what was sent")
        if sent.read(1):
            raise SystemExit("the log ends too early")


def through_supervisord(lab: Lab) -> Measured:
    """Its plain copy, without rotation."""
    log, settings = lab.folder / "supervisord.out", lab.folder / "supervisord.conf"
    log.unlink(missing_ok=True)
    command = " ".join(lab.producer)
    settings.write_text(
        f"[supervisord]\nnodaemon=true\nlogfile={lab.folder}/supervisord.log\npidfile={lab.folder}/supervisord.pid\n"
        f"[program:producer]\ncommand={command}\nautorestart=false\nstartsecs=0\n"
        f"stdout_logfile={log}\nstdout_logfile_maxbytes=0\n"
    )
    with running([str(lab.peers / "supervisord"), "-c", str(settings)]) as reader:
        return lab.measure(reader.pid, lab.source.stat().st_size, lambda: [log])


def through_s6_log(lab: Lab) -> Measured:
    """With TAI64N stamps, and files as large as it makes them."""
    logs, stamp = lab.folder / "s6", len(b"@4000000000000000000000ff ")
    shutil.rmtree(logs, ignore_errors=True)
    count = lab.source.stat().st_size // WIDTH
    producer = subprocess.Popen(lab.producer, stdout=subprocess.PIPE)
    with running(["s6-log", "-b", "t", "n1000", "s268435455", str(logs)], stdin=producer.stdout) as reader:
        assert producer.stdout is not None
        producer.stdout.close()
        found = lab.measure(reader.pid, count * (WIDTH + stamp), lambda: [*logs.glob("@*"), logs / "current"])
        producer.wait()
    shutil.rmtree(logs)
    return found


@contextmanager
def running(command: list[str], **popen: object) -> Iterator[subprocess.Popen[bytes]]:
    """A process without output that is ended afterwards."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **popen)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
