from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launching import Launch
from tests.survivors import Corral


@pytest.fixture
def corral() -> Iterator[Corral]:
    """Counts what is left of everything that is started in it; ends it after the test."""
    with Corral() as made:
        yield made


@pytest.fixture
def launch(corral: Corral, tmp_path: Path) -> Iterator[Launch]:
    """A launch that has not been started."""
    made = Launch(corral, tmp_path)
    yield made
    made.remove_locks()
