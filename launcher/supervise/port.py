"""Can the server's port be bound, and who holds it if not?

Asked once before the start, since a health probe would otherwise be answered by whoever holds the port, and after the
end until it is free again (sgl-project/sglang PR 16756: ports stayed taken by what a stop had missed).
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator

from launcher import findings
from launcher.model import Endpoint, Finding
from launcher.supervise.naming import command_of, holder


def port_findings(endpoint: Endpoint | None, purpose: str = "") -> tuple[Finding, ...]:
    """An error if the port is taken; nothing if it is free or none is known. `purpose` follows its address."""
    if endpoint is None:
        return ()
    problem = bind_problem(endpoint)
    if problem is None:
        return ()
    if problem == errno.EADDRINUSE:
        return (_taken(endpoint, purpose),)
    return tuple(_cannot_bind(endpoint, problem))


def bind_problem(endpoint: Endpoint) -> int | None:
    """The errno of an attempt to bind, None if it can be bound."""
    try:
        addresses = socket.getaddrinfo(
            endpoint.host or None, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError):
        return errno.EADDRNOTAVAIL
    for family, kind, protocol, _, address in addresses:
        try:
            with socket.socket(family, kind, protocol) as attempt:
                # As every server does; without it a port in TIME_WAIT would look taken.
                attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                # `::` with the system's own setting takes IPv4 as well, as it does for vLLM, uvicorn and llama.cpp.
                attempt.bind(address)
        except OSError as error:
            if error.errno != errno.EAFNOSUPPORT:
                return error.errno or errno.EADDRNOTAVAIL
    return None


def holders(port: int) -> tuple[tuple[int, str], ...]:
    """Pid and command of each process that listens at a port, as far as this user may see."""
    import psutil

    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return ()
    pids = {c.pid for c in connections if c.laddr and c.laddr.port == port and c.status == psutil.CONN_LISTEN and c.pid}
    return tuple((pid, command_of(pid)) for pid in sorted(pids))


def _taken(endpoint: Endpoint, purpose: str) -> Finding:
    found = holders(endpoint.port)
    who = ", ".join(holder(pid) for pid, _ in found) or "a process that this user may not see"
    return findings.error(
        "port-taken",
        f"Port {endpoint.port} on {endpoint.host or 'every address'}{purpose} is taken by {who}.",
        fix="Stop that process, or choose another port.",
    )


def _cannot_bind(endpoint: Endpoint, problem: int) -> Iterator[Finding]:
    reasons = {
        errno.EACCES: "this user may not bind it",
        errno.EADDRNOTAVAIL: "no address of this machine has that name",
    }
    yield findings.error(
        "port-unusable" if problem != errno.EACCES else "port-forbidden",
        f"Port {endpoint.port} on {endpoint.host} cannot be bound: {reasons.get(problem, os.strerror(problem))}.",
        fix="Choose another host or port.",
    )
