"""`gpulaunch clean` as the operator sees it: what it says, its JSON, and its codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launching import Launch
from tests.orphans import alone, gpulaunch, launching, orphaned, places_of, run_id

pytestmark = pytest.mark.xdist_group("clean")  # which looks at everybody, and ends what it can prove


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    with alone(), launching(tmp_path) as made:
        yield made


def test_a_dry_run_says_what_would_be_done_and_does_nothing(launch: Launch) -> None:
    (server,) = orphaned(launch)
    done = gpulaunch(launch, "clean", "--dry-run")
    assert done.returncode == 0
    assert f"gpulaunch: would be ended: process {server} (" in done.stderr
    assert "its pid and start time stand in the run's folder" in done.stderr
    assert [process.pid for process in launch.corral.survivors()] == [server]
    assert Path(places_of(launch).locks, f"instance-{launch.instance}.lock").exists()


def test_data_has_what_was_found_why_it_is_ours_and_what_became_of_it(launch: Launch) -> None:
    (server,) = orphaned(launch)
    done = gpulaunch(launch, "clean", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert (document["schema_version"], document["dry_run"]) == (1, False)
    (entry,) = (entry for entry in document["leftovers"] if entry["name"] == str(server))
    assert entry["kind"] == "process"
    assert entry["run_id"] == run_id(launch)
    assert (entry["ours"], entry["removed"]) == (True, True)
    assert launch.corral.wait_empty(5) == []


def test_a_second_one_finds_nothing_of_it(launch: Launch) -> None:
    orphaned(launch, "--worker", "--worker-ignores-term")
    assert "ended: process" in gpulaunch(launch, "clean").stderr
    assert run_id(launch) not in gpulaunch(launch, "clean", "--json").stdout


def test_what_an_argument_after_it_means_is_a_usage_error(launch: Launch) -> None:
    assert gpulaunch(launch, "clean", "everything").returncode == 2
