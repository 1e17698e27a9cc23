"""The lab and the toolkits. Where the stage cannot run it says why; where CI cannot run it, it fails."""

from __future__ import annotations

import os
from collections.abc import Callable

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


_COMPARED = pytest.StashKey[list[tuple[str, int, int]]]()


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Callable[[str, int, int], None]:
    """Notes a comparison for the table at the end: a library, its environments, and how many differ."""
    rows = request.config.stash.setdefault(_COMPARED, [])
    return lambda library, environments, mismatches: rows.append((library, environments, mismatches))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The table: what was compared with what is predicted."""
    rows = config.stash.get(_COMPARED, [])
    if rows:
        terminalreporter.section("predictions against the libraries' own functions")
        terminalreporter.write_line(f"{'library':44} environments  mismatches")
        for library, environments, mismatches in rows:
            terminalreporter.write_line(f"{library:44} {environments:12}  {mismatches:10}")
        terminalreporter.write_line(f"seed {os.environ.get('GPULAUNCH_LOOKUPS_SEED', '1')}")
