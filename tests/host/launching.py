"""One hostile server, and the two ways a test starts it: under gpulaunch, or plainly for the control."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import hostiles
from tests.helpers import eventually, free_port
from tests.survivors import Corral

GPULAUNCH = (sys.executable, "-m", "launcher")
NAME = "server"


@dataclass(frozen=True)
class Server:
    """Where the server listens, what steers it and where it says what happened to it."""

    folder: Path
    port: int
    flags: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """The whole command line: it loads until `open_gate`."""
        files = {
            "--ready-after-file": self.gate,
            "--pid-file": self.folder / "pids",
            "--term-log": self.folder / "signals",
            "--drained-file": self.drained,
        }
        return hostiles.hostile("--port", self.port, *(word for pair in files.items() for word in pair), *self.flags)

    @property
    def gate(self) -> Path:
        return self.folder / "gate"

    @property
    def drained(self) -> Path:
        """There once a whole drain is over."""
        return self.folder / "drained"

    def open_gate(self) -> None:
        """It may become ready."""
        self.gate.touch()

    def pids(self) -> dict[str, int]:
        """Waits until it and its worker have started; their pids by role, as they see them themselves."""
        return {str(line["role"]): int(str(line["pid"])) for line in hostiles.processes(self.folder / "pids")}

    def health(self) -> int | None:
        return hostiles.health(self.port)

    def is_ready(self) -> bool:
        return self.health() == 200

    def signals(self) -> list[str]:
        """The signals that reached it."""
        return hostiles.signals(self.folder / "signals")

    def profile(self, grace: str = "20s") -> Path:
        """A profile that runs it."""
        path = self.folder / f"{NAME}.yaml"
        document = {
            "schema": 1,
            "name": NAME,
            "engine": "command",
            "command": self.command,
            "ready": {"url": f"http://127.0.0.1:{self.port}/health"},
            "stop": {"grace": grace},
        }
        path.write_text(json.dumps(document, indent=2))  # YAML holds JSON
        return path

    def launch_command(self, grace: str = "20s") -> list[str]:
        """gpulaunch with that profile."""
        return [*GPULAUNCH, "command", "--profile", str(self.profile(grace))]

    def run_folder(self) -> Path:
        """What the launch keeps of itself, where `environment` sent it."""
        return self.folder / "state" / "gpulaunch" / "runs" / NAME / "latest"

    def outcome(self) -> dict[str, Any]:
        """How the launch ended, as its run folder says."""
        found: dict[str, Any] = json.loads((self.run_folder() / "outcome.json").read_text())
        return found


def server(folder: Path, *flags: str | int | Path, ready: bool = True) -> Server:
    """A server with these bad habits, on a free port; it loads until told where `ready` is false."""
    folder.mkdir(exist_ok=True)
    made = Server(folder, free_port(), tuple(str(flag) for flag in flags))
    if ready:
        made.open_gate()
    return made


def environment(folder: Path) -> dict[str, str]:
    """The variables of a caller whose files all lie below `folder`."""
    homes = {"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data"}
    for name in homes.values():
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    places = {variable: str(folder / name) for variable, name in homes.items()}
    return {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", **places}


@dataclass(frozen=True)
class Launch:
    """gpulaunch with the server under it."""

    process: subprocess.Popen[Any]
    server: Server
    said_file: Path

    def said(self) -> str:
        """What it wrote so far, the server's words included."""
        return self.said_file.read_text(errors="backslashreplace")

    def await_ready(self) -> None:
        """Until it says that the server answers."""
        eventually(lambda: "ready: http" in self.said() or self.process.poll() is not None, what="READY")
        assert self.process.poll() is None, self.said()

    def await_started(self) -> dict[str, int]:
        """Until the server and its workers run; their pids."""
        return self.server.pids()


def launch(corral: Corral, which: Server, *before: str, grace: str = "20s") -> Launch:
    """Starts gpulaunch in the corral; `before` is a command line that runs it."""
    said_file = which.folder / "said"
    with said_file.open("wb") as said:
        process = corral.spawn(
            [*before, *which.launch_command(grace)],
            env=environment(which.folder),
            cwd=which.folder,
            stdout=said,
            stderr=said,
        )
    return Launch(process, which, said_file)


def run_plainly(corral: Corral, which: Server) -> subprocess.Popen[Any]:
    """The control: the same server as a plain child of the test; returns when all of it has started."""
    process = corral.spawn(which.command)
    which.pids()
    return process
