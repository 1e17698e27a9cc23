"""Claims about launches: each is a real one, of a server that behaves badly."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets as randomness
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from launcher.selftest.claim import Claim, Told, require
from launcher.selftest.trial import Launching, Trial

OUTPUT = 8 << 20  # bytes of the server's output
GUARD = 10.0  # seconds for the guard: three between TERM and KILL, and a machine may be busy
_STAMP = re.compile(rb"^\S+ (?:out|err) ", re.MULTILINE)
_SECRET = "SELFTEST_API_KEY"

STUBBORN = ("--worker", "--worker-ignores-term")
HIDDEN = (*STUBBORN, "--double-fork", "--worker-setproctitle")


def claims(below: Path, launching: Launching) -> Iterator[Claim]:
    """Each in a folder of its own below `below`."""

    def claim(name: str, sentence: str, carried_out: object) -> Claim:
        assert callable(carried_out)
        return Claim(name, sentence, lambda: carried_out(Trial(name, below, launching)))

    yield claim("stop", "a server is stopped in order, and its port is free again", _stop)
    yield claim("stubborn-worker", "a worker that ignores SIGTERM, in a session of its own, is ended", _stubborn)
    yield claim("hidden-worker", "a worker that left the tree and wiped its environment is ended", _hidden)
    yield claim("launcher-killed", "gpulaunch itself is killed by SIGKILL, and nothing is left", _killed)
    yield claim("log", f"{OUTPUT >> 20} MiB of output are shown and logged, every byte", _log)
    yield claim("secret", "a secret that the server prints is masked, also where it comes in two pieces", _secret)


def _stop(trial: Trial) -> Told:
    trial.start("--worker", "--ends-workers")
    begin = time.monotonic()
    _require_code(trial.signal(signal.SIGTERM))
    took = time.monotonic() - begin
    _require_empty(trial)
    require(trial.port_is_free(), f"port {trial.port} is taken after the end")
    events = [json.loads(line) for line in (trial.run_folder / "events.jsonl").read_text().splitlines()]
    senders = [str(event["sender"]) for event in events if event["event"] == "signal"]
    require(
        any(f"process {os.getpid()} " in sender for sender in senders),
        f"who sent the signal was not told rightly: {', '.join(senders) or 'no sender'}",
    )
    return Told("ok", f"in {took:.1f} s; the sender of the signal was named")


def _stubborn(trial: Trial) -> Told:
    return _emptied(trial.start(*STUBBORN))


def _hidden(trial: Trial) -> Told:
    trial.start(*HIDDEN)
    marks = Path(f"/proc/{trial.members[-1].pid}/environ").read_bytes()
    require(b"GPULAUNCH_RUN_ID" not in marks, "the worker could not wipe its environment, so that this proves nothing")
    return _emptied(trial)


def _emptied(trial: Trial) -> Told:
    begin = time.monotonic()
    _require_code(trial.signal(signal.SIGTERM))
    _require_empty(trial)
    return Told("ok", f"all {len(trial.members)} processes within {time.monotonic() - begin:.1f} s")


def _killed(trial: Trial) -> Told:
    trial.start(*HIDDEN)
    begin = time.monotonic()
    trial.signal(signal.SIGKILL)
    trial.await_("nothing was left", lambda: not trial.left(), within=GUARD)
    return Told("ok", f"the guard had ended all {len(trial.members)} processes within {time.monotonic() - begin:.1f} s")


def _log(trial: Trial) -> Told:
    digest = trial.folder / "digest"
    trial.start("--spam", str(OUTPUT), "--spam-digest", str(digest))
    trial.await_("the server had written everything", digest.exists)
    wrote = json.loads(digest.read_text())["stdout"]["sha256"]
    _require_code(trial.signal(signal.SIGTERM))
    shown = hashlib.sha256(trial.shown).hexdigest()
    require(shown == wrote, f"{len(trial.shown)} bytes were shown, not the server's {OUTPUT}")
    logged = _STAMP.sub(b"", trial.log)
    require(hashlib.sha256(logged).hexdigest() == wrote, f"the log has {len(logged)} bytes of {OUTPUT}, or others")
    return Told("ok", f"SHA-256 {wrote[:12]}... of what was written, shown and logged")


def _secret(trial: Trial) -> Told:
    value = f"sk-{randomness.token_hex(16)}"
    first, second = value[:20], value[20:]
    pieces = ("--write", f"in two pieces {first}", "--write", f"{second}\\n", "--write-pause", "0.05")
    trial.start(
        "--print-env", _SECRET, "--print-arguments", "--api-key", f"${{{_SECRET}}}", *pieces,
        variables={_SECRET: value}, keys={"env": {"pass": [_SECRET]}},
    )  # fmt: skip
    _require_code(trial.signal(signal.SIGTERM))
    for path in sorted(file for file in trial.folder.rglob("*") if file.is_file()):
        require(value.encode() not in path.read_bytes(), f"{path.relative_to(trial.folder)} has it")
    require(f"{_SECRET}=***".encode() in trial.log, "the server did not print it, so that this proves nothing")
    require(b"in two pieces ***" in trial.log, "the server did not print it in pieces, so that this proves nothing")
    return Told("ok", "printed three ways; it is in no file and was not shown")


def _require_code(code: int) -> None:
    require(code == 0, f"gpulaunch ended with {code} instead of 0")


def _require_empty(trial: Trial) -> None:
    left = trial.left()
    require(not left, f"still alive: {', '.join(map(str, left))}")
