"""gpulaunch cache ls, prune and warm, as a process of its own, over caches in temporary folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.caches import targets
from tests.caches.test_facts import somebody_holds
from tests.caches.trees import flashinfer_build
from tests.cli.conftest import Answer, Caller
from tests.helpers import eventually

DAY = 86_400
DEFAULT = targets.MODULES[:4]


def cache_of(caller: Caller) -> Path:
    """Our cache of kernels."""
    return Path(caller.environ["HOME"], ".cache/gpulaunch/jit")


def root(caller: Caller, name: str, days: float = 0) -> Path:
    """The folder of a toolchain that was last used so many days ago."""
    place = cache_of(caller) / name
    flashinfer_build(place / "flashinfer", needs=("libcudart.so.13",))
    then = time.time() - days * DAY
    for path in (place, *place.rglob("*")):
        os.utime(path, (then, then))
    return place


# --------------------------------------------------------------------------------------------------------------------
# ls


def test_every_folder_is_listed_with_size_age_and_modules(caller: Caller) -> None:
    root(caller, "13.0-sglang-0.5.14-abc", days=3)
    root(caller, "shared/triton")
    answer = caller("cache", "ls")
    assert answer.code == 0
    first, second, last = answer.out.splitlines()
    assert first.split()[0] == "13.0-sglang-0.5.14-abc"
    assert "used 3 days ago, 1 of FlashInfer's modules" in first
    assert second.split()[0] == "shared/triton"
    assert "in all" in last


def test_an_empty_cache_is_no_error_and_nothing_is_made(caller: Caller) -> None:
    answer = caller("cache", "ls")
    assert (answer.code, answer.out) == (0, "Nothing was compiled yet.\n")
    assert not cache_of(caller).exists()


def test_the_list_as_json(caller: Caller) -> None:
    place = root(caller, "13.0-vllm-0.33.0-abc", days=3)
    said = json.loads(caller("cache", "ls", "--json").out)
    assert said["schema_version"] == 1
    (entry,) = said["caches"]
    assert (entry["name"], entry["path"], entry["used_by"]) == ("13.0-vllm-0.33.0-abc", str(place), [])
    assert entry["bytes"] > 0
    assert entry["flashinfer_modules"] == 1
    assert abs(time.time() - 3 * DAY - entry["last_used"]) < 60


# --------------------------------------------------------------------------------------------------------------------
# prune


def test_only_what_is_old_is_removed(caller: Caller) -> None:
    old, new = root(caller, "old", days=40), root(caller, "new", days=20)
    answer = caller("cache", "prune")
    assert answer.code == 0
    assert "removed old" in answer.err
    assert not old.exists()
    assert new.exists()
    assert [path.name for path in cache_of(caller).iterdir()] == ["new"]


def test_the_age_is_as_said(caller: Caller) -> None:
    place = root(caller, "one", days=2)
    caller("cache", "prune", "--older-than", "3d")
    assert place.exists()
    caller("cache", "prune", "--older-than", "36h")
    assert not place.exists()


def test_a_dry_run_removes_nothing(caller: Caller) -> None:
    place = root(caller, "old", days=40)
    answer = caller("cache", "prune", "--dry-run")
    assert "would remove old" in answer.err
    assert place.exists()


@pytest.mark.parametrize("age", ["", "30", "soon", "-1d", "1y"])
def test_an_age_that_is_none_is_an_error_of_usage(caller: Caller, age: str) -> None:
    place = root(caller, "old", days=400)
    answer = caller("cache", "prune", f"--older-than={age}")
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
    assert place.exists()


@pytest.mark.parametrize("how", ["flock", "open"])
def test_what_a_process_has_open_or_locked_stays(caller: Caller, how: str) -> None:
    place = root(caller, "old", days=40)
    with somebody_holds(place / "flashinfer/.cache/flashinfer/0.6.8/120f/cached_ops/tmp/sampling.lock", how) as pid:
        os.utime(place / "flashinfer/.cache/flashinfer/0.6.8/120f/cached_ops/tmp/sampling.lock", (0, 0))
        old = time.time() - 40 * DAY
        for path in place.rglob("*"):
            os.utime(path, (old, old))
        answer = caller("cache", "prune", "-v")
        assert f"process {pid}" in answer.err
        assert place.exists()
    caller("cache", "prune")
    assert not place.exists()


def test_what_a_process_names_in_its_environment_stays(caller: Caller) -> None:
    place = root(caller, "old", days=40)
    environ = {**os.environ, "FLASHINFER_WORKSPACE_BASE": f"{place}/flashinfer"}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environ) as server:
        assert server.stdin is not None
        said = json.loads(caller("cache", "ls", "--json").out)
        assert f"process {server.pid}" in said["caches"][0]["used_by"][0]
        caller("cache", "prune")
        assert place.exists()
        server.stdin.close()
    caller("cache", "prune")
    assert not place.exists()


def test_what_cannot_be_removed_is_told_with_its_code_and_the_rest_is_removed(caller: Caller) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may remove everything")
    blocked, other = root(caller, "shared/blocked", days=40), root(caller, "other", days=40)
    blocked.parent.chmod(0o500)
    try:
        answer = caller("cache", "prune")
    finally:
        blocked.parent.chmod(0o700)
    assert answer.code == 77
    assert not other.exists()


# --------------------------------------------------------------------------------------------------------------------
# warm


def warm(caller: Caller, tmp_path: Path, does: str = "echo compiled", flags: str = "", **rest: object) -> Answer:
    """A target and a toolkit that are there once; a profile that names both."""
    venv, toolkit = tmp_path / "venv", tmp_path / "cuda"
    if not venv.exists():
        targets.target(venv)
        targets.toolkit(toolkit, does)
    profile = caller.profile(targets.PROFILE.format(venv=venv, toolkit=toolkit, flags=flags))
    return caller("cache", "warm", "--profile", profile, **rest)  # type: ignore[arg-type]


def test_r066_flashinfer_1467_the_modules_are_compiled_one_after_the_other_before_any_server(
    caller: Caller, tmp_path: Path
) -> None:
    answer = warm(caller, tmp_path)
    assert answer.code == 0, answer.err
    assert targets.calls(tmp_path / "cuda") == list(DEFAULT)
    assert [line.split()[1:] for line in answer.err.splitlines() if " compiled " in line] == [
        ["compiled", name] for name in DEFAULT
    ]
    built = sorted(path.stem for path in cache_of(caller).rglob("*.so"))
    assert built == sorted(DEFAULT)


def test_r066_a_second_time_finds_everything_and_calls_no_compiler(caller: Caller, tmp_path: Path) -> None:
    warm(caller, tmp_path)
    answer = warm(caller, tmp_path)
    assert answer.code == 0
    assert "there already: sampling" in answer.err
    assert targets.calls(tmp_path / "cuda") == list(DEFAULT)


def test_what_the_command_line_asks_for_is_compiled_too(caller: Caller, tmp_path: Path) -> None:
    answer = warm(caller, tmp_path, flags=", x, --attention-backend, flashinfer, --sampling-backend, pytorch")
    assert answer.code == 0, answer.err
    assert targets.calls(tmp_path / "cuda") == ["page", "norm", "quantization", "rope", "cascade"]
    assert "left out attention: the model's config.json is not here" in answer.err


def test_a_compile_that_fails_is_one_sentence_and_no_zero(caller: Caller, tmp_path: Path) -> None:
    does = 'case $1 in norm) echo "x.cu(3): error: no suitable kernel"; echo "1 error detected"; exit 2;; esac'
    answer = warm(caller, tmp_path, does)
    assert answer.code == 1
    told = [line for line in answer.err.splitlines() if "warm-failed" in line or "cannot be compiled" in line]
    assert len(told) == 1
    assert "FlashInfer's norm cannot be compiled: x.cu(3): error: no suitable kernel." in told[0]
    assert "Traceback" not in answer.err
    assert targets.calls(tmp_path / "cuda") == list(DEFAULT), "the others are compiled all the same"


def test_a_target_without_flashinfer_has_nothing_to_warm(caller: Caller) -> None:
    answer = caller("cache", "warm", "--profile", caller.command_profile(), "-v")
    assert answer.code == 0
    assert "Nothing here is compiled while serving." in answer.err


def test_a_toolkit_that_cannot_serve_is_refused_before_anything_is_compiled(caller: Caller, tmp_path: Path) -> None:
    targets.target(tmp_path / "venv")
    profile = targets.PROFILE.format(venv=tmp_path / "venv", toolkit=tmp_path / "gone", flags="")
    answer = caller("cache", "warm", "--profile", caller.profile(profile))
    assert answer.code == 78
    assert str(tmp_path / "gone") in answer.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_whoever_ends_it_ends_the_compilers_too(
    caller: Caller, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    venv, toolkit = (
        targets.target(tmp_path / "venv"),
        targets.toolkit(tmp_path / "cuda", f'echo $$ > "{tmp_path}/pid"; exec tail -f /dev/null'),
    )
    profile = caller.profile(targets.PROFILE.format(venv=venv, toolkit=toolkit, flags=""))
    command = [sys.executable, "-m", "launcher", "cache", "warm", "--profile", profile]
    with subprocess.Popen(command, env=dict(caller.environ), cwd=caller.folder, stderr=subprocess.PIPE) as warming:
        pid = int(eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
        warming.send_signal(number)
        warming.communicate(timeout=30)
    assert warming.returncode == code
    assert eventually(lambda: not Path(f"/proc/{pid}/root").exists() or _is_gone(pid))


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
