"""A real tmux with a socket of its own and no configuration; its server lives in the test's corral."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.helpers import eventually
from tests.survivors import Corral, Process


class Tmux:
    """One tmux server with at most one session of one pane. The pane's command is what the test gives: no shell."""

    def __init__(self, corral: Corral) -> None:
        self._corral = corral
        # Not below the test's folder: the path of a socket has at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="tmux-"))

    def __enter__(self) -> Tmux:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run("kill-server", check=False)
        shutil.rmtree(self._folder)

    def begin(self, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        """Starts the command in a pane, which stays on the screen when the command has ended."""
        # An option must be there before the pane is: ";" makes it one request.
        keep = ("start-server", ";", "set-option", "-w", "-g", "remain-on-exit", "on", ";")
        self.run(*keep, "new-session", "-d", "-x", "160", "-y", "40", "-s", "pane", "--", *argv, environ=environ)

    def run(self, *words: str, check: bool = True, environ: Mapping[str, str] | None = None) -> str:
        """A tmux command; what it printed."""
        process = self._corral.spawn(
            ["tmux", "-S", str(self._folder / "socket"), "-f", "/dev/null", *words],
            env=None if environ is None else dict(environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output, _ = process.communicate(timeout=20)
        if check and process.returncode != 0:
            raise AssertionError(f"tmux {' '.join(words)}: exit {process.returncode}: {output}")
        return str(output)

    def pane(self, formats: str) -> str:
        """What tmux knows of the pane, such as "#{pane_dead_status}"."""
        return self.run("display-message", "-p", "-t", "pane", formats).strip()

    def type(self, *keys: str) -> None:
        """Types into the pane, "C-c" for one."""
        self.run("send-keys", "-t", "pane", *keys)

    def screen(self) -> str:
        """What the pane shows, scrolled-off lines included."""
        return self.run("capture-pane", "-p", "-J", "-S", "-", "-t", "pane")

    def await_dead(self, within: float = 20.0) -> None:
        """Until the pane's command has ended, however it did."""
        eventually(lambda: self.pane("#{pane_dead}") == "1", within=within, what="the pane's command ends")

    def await_exit(self, within: float = 20.0) -> int:
        """The exit code of the pane's command."""
        self.await_dead(within)
        return int(eventually(self._status, what="tmux tells the exit code"))

    def server(self) -> Process:
        """The process that holds the pane."""
        return next(process for process in self._corral.survivors() if process.comm.startswith("tmux: server"))

    def others(self) -> list[Process]:
        """Survivors that are not tmux itself."""
        return [process for process in self._corral.survivors() if not process.comm.startswith("tmux")]

    def _status(self) -> str:
        status = self.pane("#{pane_dead_status}")
        if not status:
            # tmux 3.3a now and then misses the SIGCHLD of its pane and leaves a zombie; another one makes it look.
            os.kill(self.server().pid, signal.SIGCHLD)
        return status
