"""A caller with a home, a working folder and an environment of its own: no test touches those of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from launcher.cli.entry import run
from launcher.facts import document
from tests.cli.machines import founding

COMMAND = """\
schema: 1
name: server
engine: command
command: [python3, -m, http.server, "{port}"]
ready: {ready}
"""


@dataclass(frozen=True)
class Caller:
    """Runs `python -m launcher` as a process of its own."""

    folder: Path
    environ: Mapping[str, str]

    def __call__(self, *arguments: str, env: Mapping[str, str] | None = None, **rest: object) -> Answer:
        command = [sys.executable, "-m", "launcher", *arguments]
        environ = self.environ if env is None else env
        done = subprocess.run(command, env=dict(environ), cwd=self.folder, capture_output=True, timeout=60, **rest)  # type: ignore[call-overload]
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def profile(self, text: str, name: str = "server") -> str:
        """A profile file in the caller's folder, as --profile takes it."""
        path = self.folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return f"./{path.name}"

    def command_profile(self, more: str = "", *, port: int = 0, ready: str = "none") -> str:
        """A profile of the command engine; `more` are further lines."""
        return self.profile(COMMAND.format(port=port, ready=ready) + more)


@dataclass(frozen=True)
class Answer:
    """What a command line came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir(mode=0o700)
    home.mkdir(mode=0o700)
    return Caller(
        folder, {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    )


@pytest.fixture
def here(caller: Caller, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """The same without a process of its own: for command lines that end soon."""
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in caller.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(caller.folder)

    def call(*arguments: str) -> Answer:
        code = run(arguments)
        said = capfd.readouterr()
        return Answer(code, said.out, said.err)

    return call


@pytest.fixture
def founding_machine(tmp_path: Path) -> str:
    """A facts file: nvcc 12.8 on PATH, 13.0 beside it, torch cu130 and FlashInfer in the target, 8 GPUs of 12.0."""
    path = tmp_path / "founding.json"
    path.write_text(document.dump(founding()), encoding="utf-8")
    return str(path)
