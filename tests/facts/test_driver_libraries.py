"""Where libcuda lies, by the loader's cache and by LD_LIBRARY_PATH, with the version that its true name says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher import libcuda
from launcher.facts import libraries, loader
from launcher.model import SystemLibrary


def driver(folder: Path, version: str) -> Path:
    """A folder with a driver's library, named as an installer names it."""
    folder.mkdir(parents=True)
    (folder / f"libcuda.so.{version}").touch()
    (folder / "libcuda.so.1").symlink_to(f"libcuda.so.{version}")
    return folder


def test_entries_of_the_caller_and_of_the_profile_say_what_their_libcuda_is(tmp_path: Path) -> None:
    mount, compat = driver(tmp_path / "mount", "580.95.05"), driver(tmp_path / "compat", "590.44.01")
    (empty := tmp_path / "empty").mkdir()
    environ = {"LD_LIBRARY_PATH": f"{mount}:{empty}::relative:{tmp_path}/nowhere"}
    found = {folder.path: folder for folder in libraries.on_library_path(environ, f"{compat}:{mount}")}
    assert list(found) == [str(mount), str(empty), "", "relative", f"{tmp_path}/nowhere", str(compat)]
    assert found[str(mount)].libcuda == f"{mount}/libcuda.so.580.95.05"
    assert found[str(compat)].libcuda == f"{compat}/libcuda.so.590.44.01"
    assert {found[path].libcuda for path in (str(empty), "", "relative", f"{tmp_path}/nowhere")} == {None}


def test_a_link_to_nothing_is_no_libcuda(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").symlink_to("libcuda.so.580.95.05")
    (folder,) = libraries.on_library_path({"LD_LIBRARY_PATH": str(tmp_path)})
    assert folder.libcuda is None


def test_a_folder_that_the_cache_does_not_know_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, cached = driver(tmp_path / "lib64", "580.95.05"), driver(tmp_path / "opt", "575.57.08")
    monkeypatch.setattr(loader, "_USUAL", (str(usual), str(cached), f"{tmp_path}/nowhere"))
    monkeypatch.setattr(loader, "known", lambda: (("libcuda.so.1", f"{cached}/libcuda.so.1"), ("libz.so.1", "/lib/z")))
    assert loader.look() == (
        SystemLibrary(
            name="libcuda.so.1", path=f"{cached}/libcuda.so.1", real=f"{cached}/libcuda.so.575.57.08", cached=True
        ),
        SystemLibrary(
            name="libcuda.so.1", path=f"{usual}/libcuda.so.1", real=f"{usual}/libcuda.so.580.95.05", cached=False
        ),
    )


def test_a_loader_that_cannot_be_asked_is_not_established(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "known", lambda: None)
    assert loader.look() is None


@given(st.text())
def test_any_answer_of_the_loader_is_read(said: str) -> None:
    assert ("x", "/y") in loader.parse(f"{said}\n\tx (libc6) => /y\n")


@pytest.mark.parametrize(
    ("one", "other", "older"),
    [
        ("575.57.08", "580.95.05", True),
        ("580.95.05", "580.95.05", False),
        ("580.95.05", "575.57.08", False),
        ("580", "580.95.05", True),
        (None, "580.95.05", False),
        ("580.95.05", None, False),
        ("1.2", "not a version", False),
    ],
)
def test_drivers_are_compared_as_numbers(one: str | None, other: str | None, older: bool) -> None:
    assert libcuda.is_older(one, other) == older
