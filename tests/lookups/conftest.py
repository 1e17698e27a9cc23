"""The lab and the toolkits. Where the stage cannot run it says why; where CI cannot run it, it fails."""

from __future__ import annotations

import os

import pytest

from tests.lookups import lab as labs
from tests.lookups.lab import Lab
from tests.lookups.layouts import Stage


@pytest.fixture(scope="session")
def lab() -> Lab:
    """What `ci/install_lookups.py` made."""
    reason = labs.why_not()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    return labs.here()


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The toolkits, in a folder of the session's own."""
    made = Stage(tmp_path_factory.mktemp("lookups") / "stage")
    made.folder.mkdir()
    made.make()
    return made
