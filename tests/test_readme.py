"""README's picture is what gpulaunch plans today for the facts that were written on the founding host."""

from __future__ import annotations

import re

import pytest

from tests import picture


def test_the_picture_is_current() -> None:
    now = picture.picture()
    assert picture.current() == now, "python -m tests.picture --write puts it right; read the difference"


@pytest.mark.parametrize(
    "row",
    [
        "CUDA_HOME (not set) ~/.cache/gpulaunch/toolkits/13.0-",
        "PATH /usr/local/cuda/bin ~/.cache/gpulaunch/toolkits/13.0-",
        "FlashInfer 0.6.12 finds /usr/local/cuda ~/.cache/gpulaunch/toolkits/13.0-",
        "CUDA 12.8 CUDA 13.0",
        "no architecture 12.0a",
        'fails with "FlashInfer requires GPUs with sm75 or higher"',
    ],
)
def test_it_shows_the_fault_and_its_cure(row: str) -> None:
    assert row in re.sub(r"\s+", " ", picture.current())
