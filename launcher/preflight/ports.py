"""Can the server's port be bound, and those that its engine binds beside it?"""

from __future__ import annotations

import errno
from collections.abc import Iterator

from launcher.engines.ports import beside
from launcher.model import Endpoint, Finding
from launcher.preflight.moment import Moment
from launcher.supervise.port import bind_problem, port_findings


def check(moment: Moment) -> Iterator[Finding]:
    """75 with the holder: pid, command, user and, if it is one of ours, its run."""
    endpoint = moment.plan.endpoint
    yield from port_findings(endpoint)
    for number, purpose in beside(moment.plan.engine, moment.plan.argv, endpoint):
        other = Endpoint(host="", port=number)
        if (endpoint is None or number != endpoint.port) and bind_problem(other) == errno.EADDRINUSE:
            yield from port_findings(other, f", which {moment.plan.engine} binds for {purpose},")
