from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launching import Launch
from tests.survivors import Corral


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """A launch that has not been started; what it leaves is counted and ended."""
    with Corral() as corral:
        made = Launch(corral, tmp_path)
        yield made
    made.remove_locks()
