"""The port and what an engine binds beside it: taken ones are named with their holder."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from launcher.engines.ports import beside
from launcher.model import Endpoint
from launcher.preflight import ports
from tests.helpers import free_port
from tests.preflight.conftest import Make

SERVING = Endpoint(host="127.0.0.1", port=30000)


@pytest.fixture
def held() -> Iterator[int]:
    """A port that this process listens at."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield int(server.getsockname()[1])


def test_a_taken_port_is_75_with_pid_user_and_command_of_its_holder(moment: Make, held: int) -> None:
    (found,) = ports.check(moment(plan={"endpoint": Endpoint(host="127.0.0.1", port=held)}))
    assert (found.code, found.exit_code) == ("port-taken", 75)
    assert f"process {os.getpid()} (" in found.message
    assert "user " in found.message


def test_a_free_one_is_nothing_to_say(moment: Make) -> None:
    assert list(ports.check(moment(plan={"endpoint": Endpoint(host="127.0.0.1", port=free_port())}))) == []


def test_a_port_that_the_engine_binds_beside_it_is_named_with_its_purpose(moment: Make, held: int) -> None:
    argv = ("python", "-m", "sglang.launch_server", "--nccl-port", str(held))
    (found,) = ports.check(moment(plan={"endpoint": Endpoint(host="127.0.0.1", port=free_port()), "argv": argv}))
    assert found.exit_code == 75
    assert f"Port {held}" in found.message
    assert "which sglang binds for --nccl-port" in found.message


@pytest.mark.parametrize(
    ("engine", "flags", "expected"),
    [
        ("sglang", (), []),
        ("sglang", ("--nccl-port", "29001"), [29001]),
        ("sglang", ("--dist-init-addr", "10.0.0.1:25000"), [25000]),
        ("sglang", ("--dist-init-addr", "10.0.0.1:25000", "--node-rank", "1"), []),
        ("sglang", ("--disaggregation-mode", "prefill"), [8998]),
        ("sglang", ("--enable-dp-attention",), [30233, 30234, 30235, 30236, 30237, 30238]),
        ("vllm", (), []),
        ("vllm", ("--nnodes", "2"), [29501]),
        ("vllm", ("--nnodes", "2", "--node-rank", "1"), []),
        ("vllm", ("--data-parallel-rpc-port", "13345"), [13345]),
        ("llamacpp", ("--rpc", "127.0.0.1:50052"), []),
    ],
)
def test_the_engines_own_rules_say_which_ports_those_are(
    engine: str, flags: tuple[str, ...], expected: list[int]
) -> None:
    assert [number for number, _ in beside(engine, flags, SERVING)] == expected


def test_derived_ports_stay_ports_at_the_end_of_the_range() -> None:
    numbers = [n for n, _ in beside("sglang", ("--enable-dp-attention",), Endpoint(host="", port=65500))]
    assert numbers
    assert all(0 < number <= 65535 for number in numbers)
