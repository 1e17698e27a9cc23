"""The model on disk, read as this very user: every folder on the way, and the files in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launcher.model import Step
from launcher.preflight import model_path
from launcher.preflight.model_path import barrier, paths
from tests.preflight.conftest import Make

ROOT = Path(__file__).parents[2]


def argv(*words: str) -> dict[str, object]:
    return {"plan": {"argv": ("server", *words), "cwd": "/"}}


def test_a_path_where_nothing_is_is_78(moment: Make, tmp_path: Path) -> None:
    (found,) = model_path.check(moment(**argv("--model", str(tmp_path / "gone"))))
    assert (found.code, found.exit_code) == ("model-missing", 78)


def test_a_model_that_is_there_is_nothing_to_say(moment: Make, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").touch()
    assert list(model_path.check(moment(**argv("--model", str(tmp_path / "model.gguf"))))) == []


def test_a_name_on_a_hub_is_no_path(moment: Make) -> None:
    assert list(model_path.check(moment(**argv("--model", "org/model")))) == []


def test_every_option_that_names_one_is_read(moment: Make, tmp_path: Path) -> None:
    words = ("--model-path", "/m", f"--speculative-draft-model-path={tmp_path}/draft", "--tokenizer", "org/name")
    plan = moment(**argv(*words)).plan
    assert list(paths(plan, None)) == [Path("/m"), tmp_path / "draft"]


def test_a_link_to_nothing_says_where_it_leads(moment: Make, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/nowhere/at/all")
    (found,) = model_path.check(moment(**argv("--model", str(tmp_path / "link"))))
    assert "a link to /nowhere/at/all" in found.message


def test_a_weight_that_is_a_link_into_a_cache_that_is_gone_is_77(moment: Make, tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    (tmp_path / "model.safetensors").symlink_to("../../blobs/abcdef")
    (found,) = model_path.check(moment(**argv("--model-path", str(tmp_path))))
    assert (found.code, found.exit_code) == ("model-unreadable", 77)
    assert "model.safetensors" in found.message


def test_what_a_step_of_ours_will_make_is_not_missing(moment: Make, tmp_path: Path) -> None:
    model = str(tmp_path / "tiny.gguf")
    step = Step(action="tiny-model", path=model, because="the profile says so")
    plan = {"argv": ("llama-server", "--model", model), "cwd": "/"}
    assert list(model_path.check(moment(plan={**plan, "prepare": (step,)}))) == []
    assert list(model_path.check(moment(plan={**plan, "prepare": ()}))) != [], "the control"


def test_the_first_folder_that_may_not_be_entered_is_the_barrier() -> None:
    closed = Path("/home")
    assert barrier(Path("/home/somebody/models/m"), lambda path, mode: path != closed) == closed


_AS_NOBODY = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from launcher.preflight.model_path import _judged
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
for found in _judged(Path(sys.argv[2])):
    print(found.code, found.exit_code, found.message)
"""


def test_a_folder_that_the_services_user_may_not_enter_is_77_and_named(tmp_path: Path) -> None:
    """ollama/ollama#2701: found by the operator, not by the service. Asked as that user."""
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    (folder / "model.gguf").touch()
    for place in (tmp_path, *tmp_path.parents):
        if place != Path("/tmp") and place.is_relative_to("/tmp"):
            place.chmod(place.stat().st_mode | 0o055)
    command = [sys.executable, "-c", _AS_NOBODY, str(ROOT), str(folder / "model.gguf")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("model-unreadable 77 ")
    assert f"the folder {folder} may not be entered by this user (drwx------, of root)" in done.stdout
