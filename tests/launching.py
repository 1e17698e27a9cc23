"""How tests launch a server through the product: a profile in a folder of its own, gpulaunch as a child in a corral."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from launcher.paths import places
from launcher.runs import log_files
from tests.helpers import eventually, free_port
from tests.hostiles import hostile
from tests.survivors import Corral


def without_cgroups() -> tuple[str, ...]:
    """What to put before a command line so that it can make no cgroup: as for most users and in most containers.

    For root an empty folder over /sys/fs/cgroup, in a mount namespace; nobody else may make one anyway.
    """
    hidden = ("unshare", "--mount", "sh", "-euc", 'mount -t tmpfs none /sys/fs/cgroup; exec "$@"', "sh")
    possible = os.geteuid() == 0 and subprocess.run([*hidden, "true"], capture_output=True).returncode == 0
    return hidden if possible else ()


@dataclass
class Launch:
    """One launch of the hostile server. `folder` holds the profile and everything that is written."""

    corral: Corral
    folder: Path
    port: int = field(default_factory=free_port)
    grace: str = "30s"
    name: str = "test"
    process: subprocess.Popen[bytes] | None = None

    @property
    def instance(self) -> str:
        """A name that no other launch on this machine has: root's locks are the machine's."""
        return f"{self.name}-{self.port}"

    @property
    def environ(self) -> dict[str, str]:
        """A small environment whose folders are the test's own."""
        return {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "PYTHONPATH": str(Path(__file__).parent.parent),
        }

    @property
    def file(self) -> Path:
        """Its profile."""
        return self.folder / f"{self.name}.yaml"

    @property
    def errors(self) -> str:
        """What gpulaunch and the server wrote on standard error so far."""
        return (self.folder / "stderr").read_text(errors="replace")

    @property
    def output(self) -> bytes:
        """What the server wrote on standard output, as far as gpulaunch has shown it."""
        return (self.folder / "stdout").read_bytes()

    @property
    def run_folder(self) -> Path:
        """The folder of the latest run."""
        return self.folder / f"state/gpulaunch/runs/{self.name}/latest"

    @property
    def log(self) -> bytes:
        """The log of the latest run."""
        return unstamped(b"".join(file.read_bytes() for file in log_files(self.run_folder)))

    @property
    def outcome(self) -> dict[str, Any]:
        """How the latest run ended."""
        return dict(json.loads((self.run_folder / "outcome.json").read_text()))

    def profile(
        self, *flags: Any, ready: bool | Mapping[str, Any] = True, ready_timeout: str = "0", **keys: Any
    ) -> Path:
        """Writes the profile of a hostile server with these flags; `ready` may hold more than its URL."""
        path, more = self.file, ready if isinstance(ready, Mapping) else {}
        tree = {
            "schema": 1,
            "name": self.name,
            "engine": "command",
            "command": hostile(*(("--port", self.port) if ready else ()), *flags),
            "ready": {"url": f"http://127.0.0.1:{self.port}/health", "timeout": ready_timeout, **more}
            if ready
            else "none",
            "stop": {"grace": self.grace},
            **keys,
        }
        path.write_text(json.dumps(tree))  # JSON is YAML
        path.chmod(0o600)
        return path

    def command(self, *options: str) -> list[str]:
        """The command line of gpulaunch."""
        own = ("--name", self.instance)
        return [sys.executable, "-m", "launcher", "command", "--profile", str(self.file), *own, *options]

    def start(
        self,
        *flags: Any,
        environ: Mapping[str, str] | None = None,
        ready: bool | Mapping[str, Any] = True,
        before: Sequence[str] = (),
        **keys: Any,
    ) -> Launch:
        """Starts gpulaunch with the hostile server; `before` is a command line that runs it."""
        self.profile(*flags, ready=ready, **keys)
        return self.run([*before, *self.command()], {**self.environ, **(environ or {})})

    def run(self, command: Sequence[str], environ: Mapping[str, str], **popen: Any) -> Launch:
        """Starts this command line, with our two files for its streams."""
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            self.process = self.corral.spawn(
                command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=self.folder, env=environ, **popen
            )
        return self

    def until(self, words: str, within: float = 60.0) -> Launch:
        """Waits until gpulaunch says something; one that has ended says nothing more."""
        assert self.process is not None
        process = self.process
        try:
            eventually(lambda: words in self.errors or process.poll() is not None, within=within)
            assert words in self.errors
        except AssertionError:
            how = "it still runs" if process.poll() is None else f"it ended with {process.returncode}"
            raise AssertionError(f"not said within {within} s: {words!r}; {how}: {self.errors!r}") from None
        return self

    def until_ready(self) -> Launch:
        """Waits until the server answers and gpulaunch says so."""
        return self.until("gpulaunch: ready:")

    def remove_locks(self) -> None:
        """What a gpulaunch that was killed leaves in the machine's own folder: it counts for nothing, but is there."""
        locks = Path(places(self.environ, home=None, uid=os.getuid()).locks)
        for name in (f"instance-{self.instance}", f"port-{self.port}"):
            (locks / f"{name}.lock").unlink(missing_ok=True)

    def signal(self, number: int) -> Launch:
        """A signal to gpulaunch."""
        assert self.process is not None
        self.process.send_signal(number)
        return self

    def wait(self, within: float = 60.0) -> int:
        """The exit code of gpulaunch; 128+n for a signal, as a shell would say."""
        assert self.process is not None
        code = self.process.wait(within)
        return code if code >= 0 else 128 - code


def unstamped(log: bytes) -> bytes:
    """A log without the mark of each line, which every line must have."""
    mark = rb"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?:out|err|gpulaunch) "
    bare, count = re.subn(mark, b"", log)
    assert count == log.count(b"\n")
    return bare
