"""The main job as a user has it: the wheel in a fresh environment, an empty folder, a real llama.cpp server."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import termios
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers import eventually, free_port
from tests.survivors import CgroupCorral, Corral

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def gpulaunch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, installed from a wheel with the demo extra into a virtual environment of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("gpulaunch-*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    subprocess.run([str(folder / "venv/bin/python"), "-m", "pip", "install", "-q", f"{wheel}[demo]"], check=True)
    return folder / "venv/bin/gpulaunch"


@dataclass
class Demo:
    """`gpulaunch llamacpp --profile demo` in an empty folder."""

    gpulaunch: Path
    corral: Corral
    folder: Path
    port: int

    @property
    def environ(self) -> dict[str, str]:
        """A login's, with folders of the test's own."""
        return {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm"}

    @property
    def command(self) -> list[str]:
        """Flags after -- win over the profile's: a free port."""
        return [str(self.gpulaunch), "llamacpp", "--profile", "demo", "--", "--port", str(self.port)]

    def start(self, **popen: object) -> subprocess.Popen[bytes]:
        """In the corral, in an empty folder outside the clone."""
        here = self.folder / "empty"
        here.mkdir()
        return self.corral.spawn(self.command, cwd=here, env=self.environ, **popen)

    def answer(self) -> dict[str, object]:
        """A chat completion."""
        question = {"messages": [{"role": "user", "content": "Hello?"}], "max_tokens": 4}
        url = f"http://127.0.0.1:{self.port}/v1/chat/completions"
        request = urllib.request.Request(url, json.dumps(question).encode(), {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as reply:
            return dict(json.load(reply))

    def answers(self) -> bool:
        """True as soon as /health is 200."""
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                f"http://127.0.0.1:{self.port}/health", timeout=5
            ) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    def nothing_is_left(self) -> None:
        """No process, and the port can be bound."""
        assert self.corral.survivors() == []
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", self.port))


@pytest.fixture
def demo(gpulaunch: Path, tmp_path: Path) -> Iterator[Demo]:
    """A demo that has not been started; where we may, its survivors are counted by a cgroup of the test."""
    kind = Corral if CgroupCorral.unavailable() else CgroupCorral
    with kind() as corral:
        yield Demo(gpulaunch, corral, tmp_path, free_port())


def test_it_answers_a_chat_completion_within_a_minute_and_sigterm_ends_it_with_0(demo: Demo) -> None:
    server = demo.start()
    eventually(demo.answers, within=60, what="the demo answers")
    answer = demo.answer()
    assert answer["object"] == "chat.completion"
    assert answer["timings"], "llama.cpp itself measured the tokens it produced"
    server.terminate()
    assert server.wait(30) == 0
    demo.nothing_is_left()


def test_ctrl_c_typed_into_a_terminal_ends_it_with_130(demo: Demo) -> None:
    ours, theirs = os.openpty()
    try:
        server = demo.start(
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        shown = bytearray()
        eventually(lambda: _read(ours, shown) and b"ready:" in shown, within=60, what="ready on the terminal")
        os.write(ours, b"\x03")
        assert _wait(server, ours, shown) == 128 + signal.SIGINT
    finally:
        os.close(ours)
    assert b"the terminal: stopping" in shown
    demo.nothing_is_left()


def test_a_taken_port_ends_it_with_75_and_names_the_holder(demo: Demo) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", demo.port))
        holder.listen()
        server = demo.start(stderr=subprocess.PIPE)
        _, errors = server.communicate(timeout=30)
    assert server.returncode == 75
    assert f"process {os.getpid()} (".encode() in errors


def test_shipped_profiles_and_schema_travel_in_the_wheel(demo: Demo) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(
            [str(demo.gpulaunch), *words], cwd=demo.folder, env=demo.environ, capture_output=True, text=True, check=True
        )
        return done.stdout

    listed = run("profiles", "list")
    assert "demo" in listed
    assert "kimi-k26-dflash" in listed
    assert json.loads(run("schema"))["properties"]["engine"]
    plan = json.loads(run("llamacpp", "--profile", "demo", "--dry-run", "--json"))
    assert [step["action"] for step in plan["prepare"]].count("tiny-model") == 1
    assert not (demo.folder / ".cache").exists(), "a dry run changes nothing on disk"


def _read(descriptor: int, shown: bytearray) -> bool:
    """Takes what is there without waiting long."""
    import select

    readable, _, _ = select.select([descriptor], [], [], 0.1)
    if readable:
        try:
            shown += os.read(descriptor, 65536)
        except OSError:
            return False
    return True


def _wait(server: subprocess.Popen[bytes], terminal: int, shown: bytearray) -> int | None:
    """The exit code, while somebody keeps reading the terminal."""
    return eventually(lambda: (_read(terminal, shown), server.poll())[1], within=30, what="gpulaunch has ended")
