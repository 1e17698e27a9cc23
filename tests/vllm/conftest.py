"""The lab of real engines (ci/install_vllm.py), and a launch of one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.survivors import Corral
from tests.vllm.engine import Engine

LAB = Path(os.environ.get("GPULAUNCH_VLLM_LAB") or "~/.cache/gpulaunch-tests/vllm").expanduser()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs the lab."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.vllm)


@pytest.fixture
def corral() -> Iterator[Corral]:
    """Counts what is left of everything that is started in it; ends it after the test."""
    with Corral() as made:
        yield made


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the engines find out about a model once and keep: without it each vLLM imports all of itself once more."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def engine(corral: Corral, cache: Path, tmp_path: Path) -> Engine:
    """A launch that has not been started."""
    missing = [part for part in ("venv", "tiny") if not (LAB / f"{part}.made").exists()]
    assert not missing, f"{', '.join(missing)} is not in {LAB}: python3 ci/install_vllm.py"
    return Engine(corral, tmp_path, target={"venv": str(LAB / "venv")}, tiny=str(LAB / "tiny"), cache=cache)
