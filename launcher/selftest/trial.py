"""One launch of the hostile engine through our own launch path, with everything that is written below one folder."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from launcher.selftest import engine
from launcher.selftest.claim import Failed, require
from launcher.supervise import processes
from launcher.supervise.processes import Process

PATIENCE = 15.0  # seconds for whatever should take one or two: a machine may be busy
GRACE = "3s"
_PAUSE = 0.02  # seconds between looks
_KEPT = 300  # characters of what it said last

# The command line that launches a profile (second) with all of its files below a folder (first).
Launching = Callable[[Path, Path], Sequence[str]]


class Trial:
    """`name` is that of profile and folder. `variables` are added to the environment of the launch."""

    def __init__(self, name: str, below: Path, launching: Launching) -> None:
        self.name = f"selftest-{name}"
        self.folder = below / name
        self.folder.mkdir(mode=0o700)
        self.port = _free_port()
        self.members: tuple[Process, ...] = ()
        self._launching = launching
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def run_folder(self) -> Path:
        """What the launch keeps of its run."""
        return self.folder / "state" / "gpulaunch" / "runs" / self.name / "latest"

    @property
    def shown(self) -> bytes:
        """What the server wrote on standard output, as it was shown."""
        return (self.folder / "stdout").read_bytes()

    @property
    def log(self) -> bytes:
        """The same in the run's log."""
        return (self.run_folder / "server.log").read_bytes()

    def start(self, *flags: str, variables: dict[str, str] | None = None, keys: dict[str, Any] | None = None) -> Trial:
        """Launches it, and returns when it is ready and all of its processes run."""
        profile = self.folder / f"{self.name}.yaml"
        profile.write_text(json.dumps(self._profile(flags, keys or {})))  # YAML holds JSON
        profile.chmod(0o600)
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            self._child = subprocess.Popen(
                self._launching(self.folder, profile),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env={**self._environment(), **(variables or {})},
                start_new_session=True,
            )
        self.await_("readiness", lambda: b"gpulaunch: ready:" in (self.folder / "stderr").read_bytes())
        self.await_("its processes", (self.folder / "pids").exists)
        told = [json.loads(line)["pid"] for line in (self.folder / "pids").read_text().splitlines()]
        found = [processes.identify(pid) for pid in told]
        self.members = tuple(process for process in found if process is not None)
        require(len(self.members) == len(told), "a process of the server ended before it was asked to")
        return self

    def signal(self, number: signal.Signals) -> int:
        """Signals gpulaunch; its exit code."""
        assert self._child is not None
        self._child.send_signal(number)
        return self.end()

    def end(self) -> int:
        """The exit code of gpulaunch, negative for a signal."""
        assert self._child is not None
        try:
            return self._child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f"gpulaunch did not end within {PATIENCE:g} s: {self._last_words()}") from None

    def left(self) -> list[int]:
        """Which of its processes live, by pid."""
        return [process.pid for process in self.members if processes.is_alive(process)]

    def port_is_free(self) -> bool:
        """Whether the next server could bind it."""
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind(("127.0.0.1", self.port))
            except OSError:
                return False
        return True

    def await_(self, what: str, so: Callable[[], bool], within: float = PATIENCE) -> None:
        """Waits until something is so. Raises Failed after so many seconds, or where gpulaunch ended before."""
        until = time.monotonic() + within
        while not so():
            over = self._child is not None and self._child.poll() is not None and not so()
            if (over and within == PATIENCE) or time.monotonic() > until:
                how = "gpulaunch ended" if over else f"{within:g} s were over"
                raise Failed(f"{how} before {what}: {self._last_words()}")
            time.sleep(_PAUSE)

    def _profile(self, flags: Sequence[str], keys: dict[str, Any]) -> dict[str, Any]:
        program = [sys.executable, "-I", "-S", str(engine.PROGRAM)]
        told = ["--port", str(self.port), "--pid-file", str(self.folder / "pids")]
        return {
            "schema": 1,
            "name": self.name,
            "engine": "command",
            "command": [*program, *told, *flags],
            "ready": {"url": f"http://127.0.0.1:{self.port}/health"},
            "stop": {"grace": GRACE},
            **keys,
        }

    def _environment(self) -> dict[str, str]:
        names = {"XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data"}
        names |= {"XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "runtime", "TMPDIR": "tmp"}
        for name in names.values():
            (self.folder / name).mkdir(mode=0o700)
        places = {variable: str(self.folder / name) for variable, name in names.items()}
        return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.folder), **places}

    def _last_words(self) -> str:
        said = (self.folder / "stderr").read_bytes().decode(errors="replace").split("\n")
        return "; ".join(line.removeprefix("gpulaunch: ") for line in said[-4:] if line)[-_KEPT:] or "it said nothing"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
