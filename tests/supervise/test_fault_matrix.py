"""No survivor, the right exit code, and a whole log: whatever signal comes to gpulaunch, in whatever phase, over
whatever shape of tree. What is counted, and how, is told in `matrix.py`.
"""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.hostiles import hostile, processes
from tests.supervise import matrix
from tests.supervise.matrix import CELLS, PAIRS, SHAPES, Cell
from tests.survivors import Corral

ROUNDS = 20
AT_ONCE = 14  # most of a launch is waiting: two cores are busy then


def test_the_pairs_are_all_pairs() -> None:
    for one, other in (("signal", "phase"), ("signal", "shape"), ("phase", "shape")):
        assert len({(getattr(cell, one), getattr(cell, other)) for cell in PAIRS}) == 25
    assert len(CELLS) == 125


def test_every_pair_of_signal_phase_and_shape(tmp_path: Path) -> None:
    result = matrix.run_in_its_own_process(("--pairs", "--at-once", "8", "--folder", str(tmp_path / "cells")))
    assert result.returncode == 0, result.stdout
    assert "25 launches" in result.stdout


@pytest.mark.parametrize(
    "cell",
    [
        Cell("TERM", "ready", "double fork"),
        Cell("KILL", "loading", "setsid worker"),
        Cell("second INT", "stopping", "ignores TERM"),
    ],
    ids=str,
)
def test_a_launch_that_is_not_forked_off_ends_alike(cell: Cell, tmp_path: Path) -> None:
    """The same cells with `python -m launcher`: what the matrix shows is no merit of its short cut."""
    matrix.run_cell(cell, tmp_path)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "obedient"])
def test_a_plain_stop_of_these_shapes_leaves_somebody(shape: str, corral: Corral, tmp_path: Path) -> None:
    """The control: SIGTERM to the whole group, as simple supervisors do."""
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids", *SHAPES[shape]), start_new_session=True)
    everybody = {int(str(line["pid"])) for line in processes(tmp_path / "pids")}
    os.killpg(server.pid, signal.SIGTERM)
    eventually(lambda: shape == "ignores TERM" or server.poll() is not None)
    left = {process.pid for process in corral.survivors()}
    assert left, f"of {everybody}"


def test_a_cell_that_is_not_as_it_must_be_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The matrix can fail: here it expects another exit code than the right one."""
    monkeypatch.setitem(matrix.CODES, signal.SIGTERM, 3)
    with pytest.raises(AssertionError, match="exit 0, not 3"):
        matrix.run_cell(Cell("TERM", "interpreter", "obedient"), tmp_path)


@pytest.mark.stress
def test_the_whole_matrix_twenty_times(tmp_path: Path) -> None:
    seed = int(os.environ.get("GPULAUNCH_STRESS_SEED", random.SystemRandom().randrange(1 << 32)))
    words = ("--rounds", ROUNDS, "--at-once", AT_ONCE, "--seed", seed, "--folder", tmp_path / "cells")
    result = matrix.run_in_its_own_process(tuple(map(str, words)))
    print(f"\n{result.stdout}")
    assert result.returncode == 0, result.stdout
    assert f"{ROUNDS * len(CELLS)} launches" in result.stdout
