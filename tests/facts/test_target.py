"""Which target, how found, and what is in it, without running it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.facts import packages, target, torch
from launcher.model import Target
from launcher.profile.schema import TargetWish
from tests.facts import trees


def found(asked: TargetWish | None = None, **more: object) -> Target | None:
    """The target for a profile's wish."""
    usual: dict[str, object] = {"wish": None, "environ": {}, "cwd": "/", "engine_packages": ("sglang",)}
    return target.find(asked, **{**usual, **more})  # type: ignore[arg-type]


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A virtual environment with sglang."""
    site = trees.site(tmp_path / "venv", "sglang-0.5.14", "torch-2.11.0", "flashinfer_python-0.6.8.post1")
    version = site / "torch/version.py"
    version.parent.mkdir()
    version.write_text("__version__ = '2.11.0+cu130'\ndebug = False\ncuda: Optional[str] = '13.0'\n")
    return tmp_path / "venv"


def test_packages_and_torch_are_read_from_metadata(venv: Path) -> None:
    read = target.read(venv, "--target")
    assert read.packages == {"flashinfer-python": "0.6.8.post1", "sglang": "0.5.14", "torch": "2.11.0"}
    assert read.torch is not None and (read.torch.version, read.torch.cuda) == ("2.11.0+cu130", "13.0")
    assert (read.version, read.prefix, read.bin) == ("3.11", str(venv), f"{venv}/bin")


def test_the_path_stays_that_of_the_environment_not_of_its_base(venv: Path) -> None:
    assert target.read(venv, "--target").path == f"{venv}/bin/python"


def test_the_operator_beats_the_variable_and_the_variable_the_profile(venv: Path) -> None:
    wish = TargetWish(venv="/from/profile")
    environ = {"GPULAUNCH_TARGET": "/from/variable"}
    chosen = [found(wish, wish=str(venv), environ=environ), found(wish, environ=environ), found(wish)]
    assert [entry and entry.how for entry in chosen] == ["--target", "GPULAUNCH_TARGET", "profile target.venv"]


def test_a_relative_target_of_the_profile_goes_by_its_own_folder(venv: Path) -> None:
    chosen = found(TargetWish(venv="venv"), cwd="/elsewhere", folder=str(venv.parent))
    assert chosen is not None and chosen.prefix == str(venv)
    by_hand = found(TargetWish(venv="venv"), wish="venv", cwd="/elsewhere", folder=str(venv.parent))
    assert by_hand is not None and by_hand.path.startswith("/elsewhere/venv")


def test_an_active_environment_counts_only_if_it_holds_the_engine(venv: Path) -> None:
    environ = {"VIRTUAL_ENV": str(venv)}
    there = found(environ=environ)
    assert there is not None and there.how == "VIRTUAL_ENV"
    assert found(environ=environ, engine_packages=("vllm",)) is None


def test_self_is_the_interpreter_that_runs_gpulaunch() -> None:
    there = found(TargetWish(python="self"))
    assert there is not None and there.path == sys.executable


def test_a_missing_target_is_a_fact_not_an_exception(tmp_path: Path) -> None:
    there = target.read(tmp_path / "nothing", "--target")
    assert not there.exists
    assert there.packages is None
    assert there.path == f"{tmp_path}/nothing/bin/python"


def test_a_file_that_is_no_python_is_a_program(tmp_path: Path) -> None:
    trees.script(tmp_path / "llama-server", "exit 0")
    there = target.read(tmp_path / "llama-server", "--target")
    assert (there.kind, there.executable) == ("program", True)


def test_a_real_virtual_environment_agrees_with_its_own_python(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "real")], check=True)
    there = target.read(tmp_path / "real", "--target")
    code = "import site, sys; print(f'{sys.version_info[0]}.{sys.version_info[1]}', *site.getsitepackages())"
    said = subprocess.run([there.path, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert there.version == said[0]
    assert list(there.site_packages) == [folder for folder in said[1:] if Path(folder).is_dir()]
    assert there.packages == {}


def test_system_site_packages_are_read_too(tmp_path: Path) -> None:
    base = trees.site(tmp_path / "base", "torch-2.11.0")
    trees.site(tmp_path / "venv", "sglang-0.5.14")
    (tmp_path / "venv/pyvenv.cfg").write_text(f"home = {tmp_path}/base/bin\ninclude-system-site-packages = true\n")
    there = target.read(tmp_path / "venv", "--target")
    assert there.packages == {"sglang": "0.5.14", "torch": "2.11.0"}
    assert str(base) in there.site_packages


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\n", ("2.11.0+cu130", "13.0")),
        ('__version__ = "2.13.0+cpu"\ncuda = None\n', ("2.13.0+cpu", None)),
        ("", (None, None)),
    ],
)
def test_torchs_version_file_is_read(text: str, value: tuple[str | None, str | None]) -> None:
    assert torch.parse(text) == value


@pytest.mark.parametrize(
    ("folder", "value"),
    [
        ("flashinfer_python-0.6.8.dist-info", ("flashinfer-python", "0.6.8")),
        ("torch-2.11.0+cu130.dist-info", ("torch", "2.11.0+cu130")),
        ("PyYAML-6.0.2-py3.11.egg-info", ("pyyaml", "6.0.2")),
        ("torch", None),
        ("__pycache__", None),
    ],
)
def test_metadata_folders_are_read(folder: str, value: tuple[str, str] | None) -> None:
    assert packages.parse(folder) == value


@given(st.text(max_size=40))
def test_no_name_of_a_folder_is_an_exception(name: str) -> None:
    packages.parse(name)
    torch.parse(name)
