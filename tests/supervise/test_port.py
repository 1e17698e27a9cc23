"""Whether a port can be bound, and who holds it."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from launcher.model import Endpoint
from launcher.supervise.port import bind_problem, holders, port_findings
from tests.helpers import free_port


@contextmanager
def listening(host: str) -> Iterator[int]:
    """A port that this process listens at."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as server:
        try:
            server.bind((host, 0))
        except OSError:
            pytest.skip(f"{host} is no address here")
        server.listen()
        yield int(server.getsockname()[1])


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "localhost"),
        ("127.0.0.1", "0.0.0.0"),
        ("0.0.0.0", "127.0.0.1"),
        ("127.0.0.1", ""),
        ("::1", "::1"),
        ("::1", "::"),
        ("127.0.0.1", "::"),  # vLLM and llama.cpp take IPv4 as well there
    ],
)
def test_a_held_port_is_taken_and_its_holder_named(held: str, asked: str) -> None:
    with listening(held) as port:
        (finding,) = port_findings(Endpoint(host=asked, port=port))
    assert (finding.code, finding.exit_code) == ("port-taken", 75)
    assert f"process {os.getpid()} (" in finding.message


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost", ""])
def test_a_free_port_is_nothing_to_say(host: str) -> None:
    assert port_findings(Endpoint(host=host, port=free_port())) == ()


def test_the_attempt_leaves_the_port_free() -> None:
    endpoint = Endpoint(host="127.0.0.1", port=free_port())
    assert bind_problem(endpoint) is None
    assert bind_problem(endpoint) is None
    assert holders(endpoint.port) == ()


def test_a_connection_that_lingers_does_not_count_as_a_server() -> None:
    """TIME_WAIT: servers set SO_REUSEADDR, and so does the attempt."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        accepted.close()  # who closes first lingers
        client.close()
    with socket.socket() as control, pytest.raises(OSError, match="in use"):
        control.bind(("127.0.0.1", port))
    assert bind_problem(Endpoint(host="127.0.0.1", port=port)) is None


def test_a_host_that_is_no_address_of_this_machine_is_said() -> None:
    (finding,) = port_findings(Endpoint(host="192.0.2.1", port=free_port()))
    assert (finding.code, finding.exit_code) == ("port-unusable", 78)
    assert bind_problem(Endpoint(host="192.0.2.1", port=free_port())) == errno.EADDRNOTAVAIL


def test_nothing_is_asked_where_no_port_is_known() -> None:
    assert port_findings(None) == ()
