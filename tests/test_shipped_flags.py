"""Every flag in a shipped profile is an option of the engine that the profile requires, read from its sources."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from launcher.paths import places
from launcher.profile.load import load_profile
from tests.wheel_options import declared, options, sources

# The engines' releases that the profiles were checked against: oldest and newest of the required range.
CHECKED = {
    "kimi-k26-dflash": ("sglang", ("0.5.14", "0.5.23")),
    "qwen3-0.6b": ("transformers", ("5.19.0", "5.24.0")),
    "qwen3-8b": ("vllm", ("0.33.0",)),
}
CASES = [(name, engine, version) for name, (engine, versions) in CHECKED.items() for version in versions]


@pytest.fixture(scope="session")
def wheels() -> Path:
    """A folder that keeps fetched wheels between runs."""
    folder = Path(os.environ.get("GPULAUNCH_WHEEL_CACHE", Path.home() / ".cache/gpulaunch-tests/wheels"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetched(wheels: Path, engine: str, version: str) -> Path:
    """The engine's wheel, fetched without its dependencies; nothing of it is installed or run."""
    found = next(wheels.glob(f"{engine}-{version}-*.whl"), None)
    if found is not None:
        return found
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--python-version",
        "3.11",
    ]
    done = subprocess.run([*pip, "-d", str(wheels), f"{engine}=={version}"], capture_output=True, text=True)
    if done.returncode != 0 and not os.environ.get("CI"):
        pytest.skip(f"{engine} {version} could not be fetched: {done.stderr.strip().splitlines()[-1:]}")
    assert done.returncode == 0, done.stderr
    return next(wheels.glob(f"{engine}-{version}-*.whl"))


def shipped(name: str) -> dict[str, object]:
    """The args of a shipped profile, and what it requires."""
    asked = load_profile(name, environ={}, places=places({}, home=None, uid=1), cwd="/", uid=None)
    return {"args": asked.profile.args, "requires": asked.profile.requires}


@pytest.mark.parametrize(("name", "engine", "version"), CASES)
def test_the_checked_release_is_one_that_the_profile_requires(name: str, engine: str, version: str) -> None:
    requires = shipped(name)["requires"]
    assert isinstance(requires, dict)
    assert SpecifierSet(requires[engine]).contains(version)


@pytest.mark.wheels
@pytest.mark.parametrize(("name", "engine", "version"), CASES)
def test_every_flag_is_an_option_in_the_engines_source(wheels: Path, name: str, engine: str, version: str) -> None:
    known = declared(fetched(wheels, engine, version), engine)
    args = shipped(name)["args"]
    assert isinstance(args, dict)
    assert {f"--{option}" for option in args} <= known
    assert "--option-of-nobody" not in known


@pytest.mark.wheels
@pytest.mark.parametrize("version", ["0.5.14", "0.5.23"])
def test_dflash_is_an_algorithm_of_both_sglang_releases(wheels: Path, version: str) -> None:
    texts = "\n".join(sources(fetched(wheels, "sglang", version), "sglang"))
    assert '"DFLASH"' in texts


@pytest.mark.wheels
def test_the_draft_window_of_0_5_14_is_gone_in_0_5_23(wheels: Path) -> None:
    """The control: the check sees that an option went away."""
    window = "--speculative-dflash-draft-window-size"
    assert window in declared(fetched(wheels, "sglang", "0.5.14"), "sglang")
    assert window not in declared(fetched(wheels, "sglang", "0.5.23"), "sglang")


@pytest.mark.wheels
def test_vllms_door_is_a_module_that_can_be_run(wheels: Path) -> None:
    with zipfile.ZipFile(fetched(wheels, "vllm", "0.33.0")) as archive:
        assert '__name__ == "__main__"' in archive.read("vllm/entrypoints/cli/main.py").decode()


@pytest.mark.wheels
def test_transformers_door_is_a_module_that_can_be_run_and_its_flags_have_a_no(wheels: Path) -> None:
    with zipfile.ZipFile(fetched(wheels, "transformers", "5.24.0")) as archive:
        assert '__name__ == "__main__"' in archive.read("transformers/cli/transformers.py").decode()
    known = declared(fetched(wheels, "transformers", "5.24.0"), "transformers")
    assert {"--host", "--port", "--continuous-batching"} <= known
    assert "--force-model" not in known, "the model is a word of its own, not an option"


def test_options_are_read_from_declarations() -> None:
    text = """
class ServerArgs:
    tp_size: A[int, "help"] = 1
    method = 3
def add(parser):
    parser.add_argument("--some_flag", "-s", help="x")
    print("--not-an-option")
class Serve:
    def __init__(self, model: Annotated[str, typer.Argument()], log_level: Annotated[str, typer.Option()] = "info"):
        pass
"""
    assert set(options(text)) == {"--tp-size", "--some-flag", "--log-level"}
