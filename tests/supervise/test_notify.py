"""What systemd is told, by a socket that stands for it."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher.supervise.notify import Notifier
from tests.helpers import eventually
from tests.launching import Launch


class Manager:
    """Whoever listens at NOTIFY_SOCKET."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self._heard: list[str] = []

    def heard(self) -> list[str]:
        """Every line so far."""
        try:
            while True:
                self._heard += self._socket.recv(4096).decode().splitlines()
        except BlockingIOError:
            return self._heard

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["abstract", "path"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    made = Manager(f"@gpulaunch-test-{os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify"))
    yield made
    made.close()


def test_ready_is_said_when_the_server_answers_and_stopping_once(launch: Launch, manager: Manager) -> None:
    """vllm-project/vllm#57637 (R113): nothing sends READY=1, and Type=notify waits for ever."""
    gate = launch.folder / "gate"
    flags = ("--ready-after-file", gate, "--print-env", "NOTIFY_SOCKET")
    launch.start(*flags, environ={"NOTIFY_SOCKET": manager.address})
    eventually(lambda: "STATUS=loading: test" in manager.heard())
    eventually(lambda: any(line.startswith("EXTEND_TIMEOUT_USEC=") for line in manager.heard()))
    assert "READY=1" not in manager.heard()
    gate.touch()
    launch.until_ready()
    eventually(lambda: "READY=1" in manager.heard())
    launch.signal(signal.SIGTERM).until("stopping").signal(signal.SIGTERM)
    assert launch.wait() == 0
    assert manager.heard().count("STOPPING=1") == 1
    assert launch.output == b"NOTIFY_SOCKET is unset\n"


def test_a_server_that_nobody_asks_is_ready_right_after_exec(launch: Launch, manager: Manager) -> None:
    launch.start("--say", "hello", ready=False, environ={"NOTIFY_SOCKET": manager.address})
    eventually(lambda: "READY=1" in manager.heard())
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_a_server_that_dies_while_it_loads_was_never_ready(launch: Launch, manager: Manager) -> None:
    launch.start("--port", launch.port, "--exit", 3, environ={"NOTIFY_SOCKET": manager.address})
    assert launch.wait() == 3
    assert "READY=1" not in manager.heard()


def test_a_manager_that_does_not_read_or_is_not_there_keeps_nobody_waiting(manager: Manager, tmp_path: Path) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": manager.address})
    sent = 0
    while sent < 2:  # the queue of a socket is short
        notifier.status(f"{sent}")
        sent += 1
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "nowhere")}).stopping()
    Notifier({}).ready("running")
    assert "STATUS=1" in manager.heard()


def test_how_far_it_has_loaded_is_the_units_status(launch: Launch, manager: Manager) -> None:
    """`systemctl status` tells the latest state of the server's own bar; its stream shows the bar as it was drawn."""
    gate = launch.folder / "gate"
    flags = ("--load", 1.0, "--progress", 61, "--ready-after-file", gate)
    launch.start(*flags, environ={"NOTIFY_SOCKET": manager.address})
    eventually(lambda: "STATUS=loading: Loading safetensors checkpoint shards 61/61 (100 %)" in manager.heard())
    gate.touch()
    launch.until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert (launch.folder / "stderr").read_bytes().count(b"\r") == 61
    assert launch.log.count(b"shards: ") < 20
