"""PATH is composed: no nvcc in it but the chosen one."""

from __future__ import annotations

from dataclasses import replace

from launcher.model import Folder
from tests.builders import SYSTEM_13, VENV, asked, facts, folders, plan, toolkit


def with_nvcc(path: str, root: str) -> tuple[Folder, ...]:
    """The usual folders, one of which holds an nvcc."""
    return tuple(
        replace(folder, nvcc=f"{path}/nvcc", nvcc_root=root) if folder.path == path else folder for folder in folders()
    )


def test_the_toolkit_comes_first_then_the_target_then_the_system() -> None:
    made = plan(here=facts(toolkits=(SYSTEM_13,)))
    assert made.env["PATH"].split(":") == [
        "/usr/local/cuda-13.0/bin",
        f"{VENV}/bin",
        "/usr/local/sbin",
        "/usr/local/bin",
        "/usr/sbin",
        "/usr/bin",
    ]


def test_a_target_that_was_never_activated_finds_its_ninja() -> None:
    """R026 vllm-project/vllm#49029: venv/bin/vllm without activation does not find the ninja beside it."""
    made = plan()
    assert made.env["PATH"].split(":")[0] == f"{VENV}/bin"
    assert made.env["VIRTUAL_ENV"] == VENV


def test_a_system_folder_with_another_nvcc_is_replaced_by_links_without_it() -> None:
    """R022 vllm-project/vllm#8665: the distribution's /usr/bin/nvcc rejects the GPU."""
    distro = toolkit("/usr", "11.8", kind="distro", found=("nvcc on PATH in /usr/bin",))
    made = plan(here=facts(toolkits=(distro,), folders=with_nvcc("/usr/bin", "/usr")))
    entries = made.env["PATH"].split(":")
    assert "/usr/bin" not in entries
    (step,) = (step for step in made.prepare if step.action == "links")
    assert (step.source, step.leave_out) == ("/usr/bin", ("nvcc",))
    assert step.path in entries
    assert made.toolkit.strategy == "hide"


def test_a_wrapper_that_leads_to_the_chosen_toolkit_may_stay() -> None:
    """R035 tile-ai/tilelang#2839: /usr/local/bin/nvcc is a script; the chosen root is the true one."""
    here = facts(toolkits=(SYSTEM_13,), folders=with_nvcc("/usr/local/bin", "/usr/local/cuda-13.0"))
    made = plan(here=here)
    assert "/usr/local/bin" in made.env["PATH"].split(":")
    assert made.env["CUDA_HOME"] == "/usr/local/cuda-13.0"


def test_a_wrapper_that_leads_elsewhere_is_left_out() -> None:
    made = plan(here=facts(toolkits=(SYSTEM_13,), folders=with_nvcc("/usr/local/bin", "/usr/local/cuda-12.8")))
    assert "/usr/local/bin" not in made.env["PATH"].split(":")


def test_missing_and_unreadable_folders_are_left_out() -> None:
    here = facts(
        folders=(
            Folder(path="/usr/local/sbin", origin="system", exists=False),
            Folder(path="/usr/sbin", origin="system", readable=False, real="/usr/sbin"),
            Folder(path="/usr/bin", origin="system", real="/usr/bin"),
        )
    )
    entries = plan(here=here).env["PATH"].split(":")
    assert "/usr/local/sbin" not in entries
    assert "/usr/sbin" not in entries
    assert "/usr/bin" in entries


def test_folders_of_the_profile_come_after_the_targets() -> None:
    entries = plan(asked(env={"path": ["/opt/tools/bin"]})).env["PATH"].split(":")
    assert entries.index("/opt/tools/bin") == entries.index(f"{VENV}/bin") + 1


def test_the_callers_path_is_never_inherited() -> None:
    made = plan(here=facts(environ={"PATH": "/home/serve/bin:.::/usr/local/cuda/bin"}))
    assert "/home/serve/bin" not in made.env["PATH"]
    assert "" not in made.env["PATH"].split(":")
