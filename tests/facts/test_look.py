"""Looking at the machine that runs the test: whole, harmless and quiet."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher.facts import driver_mounts, folders, gpus, look, roots, systemd
from launcher.paths import SYSTEM_PATH
from tests.facts import trees


def test_it_answers_in_an_empty_environment_and_changes_nothing(tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    found = look(None, environ={}, cwd=str(tmp_path))
    assert found.target is None
    assert {folder.path for folder in found.folders} == set(SYSTEM_PATH)
    assert found.host.uid == os.getuid()
    assert {limit.name for limit in found.limits} >= {"NOFILE", "CORE"}
    assert (found.gpus is None) == any(unknown.subject == "gpus" for unknown in found.unknowns)
    assert sorted(tmp_path.rglob("*")) == before


def test_every_folder_says_whether_it_holds_an_nvcc_and_whose(tmp_path: Path) -> None:
    root = trees.toolkit(tmp_path / "cuda-12.8", "12.8")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/nvcc").symlink_to(root / "bin/nvcc")
    there, _ = folders.look({"PATH": f"{root}/bin:{tmp_path}/links:{tmp_path}"}, None, (), ())
    seen = {folder.path: folder.nvcc_root for folder in there if folder.origin == "caller"}
    assert seen == {f"{root}/bin": str(root), f"{tmp_path}/links": str(root), str(tmp_path): None}


def test_relative_entries_of_path_are_findings() -> None:
    _, said = folders.look({"PATH": ".:bin:/usr/bin"}, None, (), ())
    assert [finding.code for finding in said] == ["path-entry-malformed", "path-entry-malformed"]


def test_an_nvcc_of_the_working_folder_is_seen_and_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees.script(tmp_path / "bin/nvcc", f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    monkeypatch.chdir(tmp_path)
    environ = {"PATH": "bin", "CUDA_HOME": ".", "CUDA_PATH": ""}
    there, _ = folders.look(environ, None, (), ())
    assert [folder.programs for folder in there if folder.path == "bin"] == [("nvcc",)]
    spelled = {root.path for root in roots.look(environ, there, None, ())}
    assert not {".", "", "bin"} & spelled  # what stands there cannot be told
    assert not (tmp_path / "was-run").exists()


def test_an_unreadable_folder_on_path_is_a_finding() -> None:
    with tempfile.TemporaryDirectory() as closed:
        Path(closed).chmod(0)
        with an_ordinary_user():
            there, said = folders.look({"PATH": closed}, None, (), ())
        Path(closed).chmod(0o700)
    assert not there[0].readable
    assert said[0].code == "path-entry-unreadable"


@contextlib.contextmanager
def an_ordinary_user() -> Iterator[None]:
    """Root may read every folder: nobody may not. An ordinary user stays who he is."""
    if os.getuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_only_folders_with_the_drivers_libraries_are_driver_mounts(tmp_path: Path) -> None:
    for name in ("nvidia/lib64", "cuda/compat", "cuda/lib64"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "nvidia/lib64/libcuda.so.1").touch()
    (tmp_path / "cuda/compat/libcuda.so.1").touch()
    value = f"{tmp_path}/cuda/lib64:{tmp_path}/cuda/compat:{tmp_path}/nvidia/lib64:relative:"
    assert driver_mounts.look({"LD_LIBRARY_PATH": value}) == (f"{tmp_path}/nvidia/lib64",)


@pytest.mark.parametrize(
    ("environ", "main"),
    [
        ({"NOTIFY_SOCKET": "/run/systemd/notify"}, True),
        ({"SYSTEMD_EXEC_PID": str(os.getpid())}, True),
        ({"SYSTEMD_EXEC_PID": "1"}, False),
        ({"INVOCATION_ID": "x"}, None),
        ({}, False),
    ],
)
def test_an_inherited_invocation_id_proves_nothing(environ: dict[str, str], main: bool | None) -> None:
    assert systemd.look(environ).main_process is main


def test_the_drivers_version_is_read_where_nvml_is_silent() -> None:
    text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\nGCC version: 12\n"
    assert gpus.parse_proc(text) == "580.95.05"
    assert gpus.parse_proc("nothing") is None
