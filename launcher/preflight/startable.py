"""Could the program be started as it stands?"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.model import Finding
from launcher.preflight.moment import Moment
from launcher.supervise.startable import start_findings


def check(moment: Moment) -> Iterator[Finding]:
    """126, 127 and 77: what exec would say."""
    yield from start_findings(moment.plan)
