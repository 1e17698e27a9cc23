"""What a run leaves behind, and how it is found again."""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime, timezone
from pathlib import Path

import pytest

from launcher.errors import Refused
from launcher.model import Outcome
from launcher.paths import Places, places
from launcher.runs import Run, find_run, list_runs, open_run

NOON = datetime(2026, 12, 1, 12, 0, 0, tzinfo=timezone.utc)
LATER = datetime(2026, 12, 1, 12, 0, 1, tzinfo=timezone.utc)
ENDED = Outcome(exit_code=3, cause="exit 3", origin="child", child="exit 3", requested=False, ready=True)


@pytest.fixture
def where(tmp_path: Path) -> Places:
    """Folders of the test's own."""
    return places({"XDG_STATE_HOME": str(tmp_path / "state")}, home=str(tmp_path), uid=1000)


def opened(where: Places, profile: str = "qwen", now: datetime = NOON) -> Run:
    return open_run(profile, where, {"argv": ["server"]}, now=now)


def test_a_folder_is_named_by_profile_utc_start_and_id_and_latest_leads_to_it(where: Places) -> None:
    run = opened(where)
    assert run.folder is not None
    assert run.folder == Path(where.state, "runs/qwen", f"20261201T120000Z-{run.run_id}")
    assert run.folder.with_name("latest").resolve() == run.folder
    second = opened(where, now=LATER)
    assert run.folder.with_name("latest").resolve() == second.folder
    assert json.loads((run.folder / "plan.json").read_text()) == {"argv": ["server"]}


def test_whatever_the_umask_nobody_else_can_read_any_of_it(where: Places) -> None:
    before = os.umask(0)
    try:
        run = opened(where)
        run.event("started", pid=1)
        log = run.open_log()
        assert log is not None
        os.close(log)
        run.record_processes((1, 2), (3, 4), [(3, 4)])
        run.close(ENDED)
    finally:
        os.umask(before)
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in Path(where.state).rglob("*") if path.is_file()}
    assert found == dict.fromkeys(["plan.json", "events.jsonl", "server.log", "processes.json", "outcome.json"], 0o600)
    folders = [path for path in [Path(where.state), *Path(where.state).rglob("*")] if path.is_dir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}


def test_marks_name_the_run_its_folder_and_its_profile(where: Places) -> None:
    run = opened(where)
    assert dict(run.marks) == {
        "GPULAUNCH_RUN_ID": run.run_id,
        "GPULAUNCH_RUN_DIR": str(run.folder),
        "GPULAUNCH_PROFILE": "qwen",
        "GPULAUNCH_INSTANCE": "qwen",
    }


def test_where_the_state_cannot_be_written_a_run_goes_on_without_a_folder(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("not a folder")
    run = opened(places({"XDG_STATE_HOME": str(tmp_path / "state")}, home=None, uid=1000))
    assert (run.folder, run.log_path, run.open_log()) == (None, None, None)
    assert [finding.code for finding in run.findings] == ["state-unwritable"]
    assert "GPULAUNCH_RUN_DIR" not in run.marks
    run.event("started")
    run.record_processes((1, 2), (3, 4), [])
    run.close(ENDED)


def test_events_are_lines_with_a_time(where: Places) -> None:
    run = opened(where)
    run.event("ready", url="http://127.0.0.1/health")
    run.event("stopping")
    assert run.folder is not None
    lines = [json.loads(line) for line in (run.folder / "events.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["ready", "stopping"]
    assert all(datetime.fromisoformat(line["at"]).tzinfo is not None for line in lines)


def test_the_latest_run_is_found_by_nothing_its_profile_or_the_beginning_of_its_id(where: Places) -> None:
    first, second = opened(where), opened(where, "kimi", LATER)
    assert find_run(where, None).run_id == second.run_id
    assert find_run(where, "qwen").run_id == first.run_id
    assert find_run(where, first.run_id[:6]).folder == first.folder
    assert [run.run_id for run in list_runs(where)] == [second.run_id, first.run_id]
    assert [run.run_id for run in list_runs(where, "qwen")] == [first.run_id]


def test_of_two_runs_that_began_in_one_second_the_younger_is_the_latest(where: Places) -> None:
    made = [opened(where) for _ in range(6)]
    assert find_run(where, None).run_id == made[-1].run_id


def test_a_run_that_nobody_knows_is_refused_with_those_that_are_known(where: Places) -> None:
    opened(where)
    with pytest.raises(Refused) as refused:
        find_run(where, "kimi")
    assert refused.value.exit_code == 78
    assert "qwen" in refused.value.findings[0].fix


def test_without_any_run_that_is_said(where: Places) -> None:
    with pytest.raises(Refused, match="No run is recorded"):
        find_run(where, None)
