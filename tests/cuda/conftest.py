"""The lab, and the machines made from it. Where the stage cannot run it says why; where CI cannot run it, it fails."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.cuda import lab as labs
from tests.cuda.lab import VERSIONS, Lab
from tests.cuda.situations import SITUATIONS, FoundingHost, Situation, founding_host

Hosts = Callable[[Situation, str], FoundingHost]


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
    """A new founding host for a situation and a FlashInfer version."""
    return lambda situation, flashinfer: founding_host(tmp_path_factory.mktemp("host"), lab, situation, flashinfer)


@pytest.fixture(
    scope="session",
    params=[(situation, version) for situation in SITUATIONS for version in VERSIONS],
    ids=lambda param: f"{param[0].name}-{param[1]}",
)
def host(request: pytest.FixtureRequest, hosts: Hosts) -> FoundingHost:
    """Each situation with each FlashInfer version, once."""
    return hosts(*request.param)
