"""Room in /dev/shm, and hard limits that cannot be raised."""

from __future__ import annotations

import pytest

from launcher.model import Limit
from launcher.preflight import limits, shared_memory
from launcher.preflight.shared_memory import judged
from tests import builders
from tests.preflight.conftest import Make

MIB = 1 << 20


def codes(free: int, total: int, *, several: bool) -> list[tuple[str, int]]:
    return [(found.code, found.exit_code) for found in judged("/dev/shm", free * MIB, total * MIB, several=several)]


@pytest.mark.parametrize(
    ("free", "total", "several", "expected"),
    [
        (8 << 10, 16 << 10, True, []),
        (64, 64, True, [("shm-small", 0)]),  # docker's default
        (64, 64, False, []),
        (16, 64, True, [("shm-full", 75)]),
        (16, 16 << 10, False, [("shm-full", 75)]),  # segments of crashed runs
    ],
)
def test_room_is_judged_by_what_is_free(free: int, total: int, several: bool, expected: list[tuple[str, int]]) -> None:
    assert codes(free, total, several=several) == expected


def test_where_there_is_none_nothing_is_said(moment: Make) -> None:
    made = moment()
    (made.dev / "shm").rmdir()
    assert list(shared_memory.check(made)) == []


def limit(name: str, hard: int) -> dict[str, object]:
    return {"plan": {"limits": (Limit(name=name, soft=min(hard, 1024) if hard != -1 else 1024, hard=hard),)}}


@pytest.mark.parametrize(("hard", "expected"), [(4096, ["nofile-low"]), (65535, []), (-1, [])])
def test_few_files_are_a_warning(moment: Make, hard: int, expected: list[str]) -> None:
    found = list(limits.check(moment(**limit("NOFILE", hard))))
    assert [entry.code for entry in found] == expected
    assert all(entry.exit_code == 0 for entry in found)


def test_a_server_that_opens_few_files_needs_no_more(moment: Make) -> None:
    wish = builders.asked(engine="command", command=["proxy"], gpus={}, args={}, model=None, ready="none")
    assert list(limits.check(moment(wish, **limit("NOFILE", 4096)))) == []


def test_locked_memory_counts_only_where_somebody_locks_it(moment: Make) -> None:
    made = moment(**limit("MEMLOCK", 8 << 20))
    assert list(limits.check(made)) == []
    (made.dev / "infiniband").mkdir()
    (found,) = limits.check(made)
    assert found.code == "memlock-low"
    assert "InfiniBand" in found.message
