"""The lab, and the machines made from it. Where the stage cannot run it says why; where CI cannot run it, it fails."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.cuda import lab as labs
from tests.cuda.lab import Lab
from tests.cuda.situations import SITUATIONS, FoundingHost, Situation, founding_host

Hosts = Callable[[Situation], FoundingHost]


@pytest.fixture(scope="session")
def lab() -> Lab:
    """What `ci/install_cuda.py` made."""
    reason = labs.why_not()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    return labs.here()


@pytest.fixture(scope="session")
def hosts(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Hosts:
    """A new founding host in a situation."""
    return lambda situation: founding_host(tmp_path_factory.mktemp("host"), lab, situation)


@pytest.fixture(
    scope="session",
    params=SITUATIONS,
    ids=lambda situation: f"{situation.name}-{situation.flashinfer}",
)
def host(request: pytest.FixtureRequest, hosts: Hosts) -> FoundingHost:
    """Each situation once."""
    return hosts(request.param)
