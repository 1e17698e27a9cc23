"""Every place a toolkit can be, behind symlinks and wrapper scripts, and what is malformed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from launcher.facts.nvcc import examine, parse_release, parse_root, parse_wrapper
from launcher.facts.toolkits import Surroundings, look, parse_cudart_version
from launcher.model import Target, Toolkit
from tests.facts import trees


def looked(environ: Mapping[str, str] | None = None, **more: object) -> tuple[list[Toolkit], list[str]]:
    """The toolkits below the test's own folder, and the codes of what is malformed."""
    found, said = look(Surroundings(environ or {}, **more))  # type: ignore[arg-type]
    return [toolkit for toolkit in found if not toolkit.root.startswith(("/usr", "/opt"))], [
        entry.code for entry in said
    ]


def test_an_nvcc_on_path_is_a_toolkit_with_its_release_and_the_way_to_it(tmp_path: Path) -> None:
    root = trees.toolkit(tmp_path / "cuda-12.8", "12.8", cudart=12080)
    (found,), said = looked({"PATH": f"{root}/bin"})
    assert (found.root, found.release, found.headers_release, found.kind) == (str(root), "12.8", "12.8", "real")
    assert found.found == (f"nvcc on PATH in {root}/bin",)
    assert {"nvcc", "cicc"} <= set(found.parts)
    assert said == []


def test_one_toolkit_found_in_several_ways_is_one_toolkit_with_all_of_them(tmp_path: Path) -> None:
    root = trees.toolkit(tmp_path / "cuda-13.0", "13.0")
    (tmp_path / "cuda").symlink_to(root)
    (found,), _ = looked({"CUDA_HOME": f"{tmp_path}/cuda", "CUDA_PATH": str(root), "PATH": f"{tmp_path}/cuda/bin"})
    assert found.root == str(root)
    assert found.found == ("CUDA_HOME", "CUDA_PATH", f"nvcc on PATH in {tmp_path}/cuda/bin")


def test_a_symlinked_nvcc_leads_to_its_true_root(tmp_path: Path) -> None:
    """R035 tile-ai/tilelang#2839: the parent of the parent of ~/.local/bin/nvcc is no toolkit."""
    root = trees.toolkit(tmp_path / "cuda-13.0", "13.0")
    (tmp_path / "local/bin").mkdir(parents=True)
    (tmp_path / "local/bin/nvcc").symlink_to(root / "bin/nvcc")
    (found,), _ = looked({"PATH": f"{tmp_path}/local/bin"})
    assert found.root == str(root)


@pytest.mark.parametrize("line", ['exec {nvcc} "$@"', 'export A=1\nexec "{nvcc}" "$@"', "exec -a nvcc {nvcc} $*"])
def test_a_wrapper_script_leads_to_its_true_root(tmp_path: Path, line: str) -> None:
    """R035: /usr/local/bin/nvcc is a script on many machines, and /usr/local is no toolkit."""
    root = trees.toolkit(tmp_path / "cuda-13.0", "13.0")
    trees.script(tmp_path / "local/bin/nvcc", line.format(nvcc=root / "bin/nvcc"))
    (found,), _ = looked({"PATH": f"{tmp_path}/local/bin"})
    assert (found.root, found.release) == (str(root), "13.0")


def test_a_root_whose_nvcc_is_only_a_wrapper_is_not_the_toolkit(tmp_path: Path) -> None:
    root = trees.toolkit(tmp_path / "cuda-13.0", "13.0")
    trees.script(tmp_path / "local/bin/nvcc", f'exec {root}/bin/nvcc "$@"')
    (found,), _ = looked({"CUDA_HOME": f"{tmp_path}/local"})
    assert found.root == str(root)


def test_a_compiler_that_is_asked_names_its_root(tmp_path: Path) -> None:
    """A script that does more than an exec line shows: `nvcc --dryrun` says TOP."""
    root = tmp_path / "modules/cuda"
    root.mkdir(parents=True)
    body = 'case "$1" in --version) echo "release 12.4, V12.4.131";; --dryrun) echo "#$ TOP=' + str(root) + '";; esac'
    compiler = examine(trees.script(tmp_path / "shim/bin/nvcc", body))
    assert (compiler.root, compiler.release) == (str(root), "12.4")


def test_the_distributions_nvcc_is_recognised_as_such() -> None:
    """R022 vllm-project/vllm#8665: CUDA_HOME=/usr is never valid."""
    assert (
        parse_root("#$ _NVVM_BRANCH_=nvvm\n#$ _HERE_=/usr/lib/nvidia-cuda-toolkit/bin\n")
        == "/usr/lib/nvidia-cuda-toolkit"
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (":/usr/local/cuda-12.8", "looks like a PATH"),
        ("/a:/b", "looks like a PATH"),
        ("", "is empty"),
        ("cuda", "is relative"),
        ("/nonexistent", "does not exist"),
        ("/dev/null", "is not a folder"),
    ],
)
@pytest.mark.parametrize("name", ["CUDA_HOME", "CUDA_PATH"])
def test_a_malformed_variable_is_a_finding(name: str, value: str, words: str) -> None:
    """R007 vllm-project/vllm#36077: a leading colon from a line meant for PATH."""
    found, said = look(Surroundings({name: value}))
    (finding,) = said
    assert finding.code == "toolkit-variable-malformed"
    assert words in finding.message
    assert all(name not in toolkit.found for toolkit in found)


def test_an_nvcc_that_cannot_be_executed_has_a_problem_and_no_release(tmp_path: Path) -> None:
    root = trees.toolkit(tmp_path / "cuda", "13.0")
    (root / "bin/nvcc").chmod(0o644)
    (found,), _ = looked({"CUDA_HOME": str(root)})
    assert found.release is None
    assert found.problem is not None and "not executable" in found.problem


def test_an_nvcc_that_prints_nonsense_has_a_problem(tmp_path: Path) -> None:
    trees.script(tmp_path / "cuda/bin/nvcc", "echo hello; exit 127")
    (found,), _ = looked({"CUDA_HOME": f"{tmp_path}/cuda"})
    assert found.release is None
    assert found.problem is not None and "exit code 127" in found.problem


def test_a_root_without_a_compiler_has_a_problem(tmp_path: Path) -> None:
    (found,), _ = looked({"CUDA_HOME": str(tmp_path)})
    assert found.problem == "there is no nvcc in it"


def test_links_in_a_circle_are_a_problem_not_an_exception(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/nvcc").symlink_to(tmp_path / "bin/nvcc")
    assert examine(tmp_path / "bin/nvcc").release is None


def wheels(tmp_path: Path) -> Target:
    """A target whose site-packages hold nvidia/cu13."""
    packages = trees.site(tmp_path / "venv", "nvidia_cuda_nvcc-13.0.88", "torch-2.11.0")
    return Target(kind="python", path=f"{tmp_path}/venv/bin/python", how="--target", site_packages=(str(packages),))


def test_the_wheels_of_the_target_are_a_toolkit_with_their_versions(tmp_path: Path) -> None:
    target = wheels(tmp_path)
    trees.toolkit(Path(target.site_packages[0], "nvidia/cu13"), "13.0", cudart=13000)
    (found,), _ = looked({}, target=target)
    assert (found.kind, found.found) == ("wheel", ("the target's wheels",))
    assert found.wheels == {"nvidia-cuda-nvcc": "13.0.88"}


def test_torchs_own_libraries_alone_are_no_toolkit(tmp_path: Path) -> None:
    """torch's dependencies make nvidia/cu13/{include,lib} without a compiler."""
    target = wheels(tmp_path)
    Path(target.site_packages[0], "nvidia/cu13/lib").mkdir(parents=True)
    assert looked({}, target=target) == ([], [])


def test_looking_does_not_run_the_callers_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "--evil")
    trees.script(tmp_path / "cuda/bin/nvcc", 'echo "release 1$(echo ${NVCC_APPEND_FLAGS:-3}).0,"')
    (found,), _ = looked({"CUDA_HOME": f"{tmp_path}/cuda"})
    assert found.release == "13.0"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Cuda compilation tools, release 12.8, V12.8.93", "12.8"),
        ("Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0", "13.0"),
        ("nvcc: command not found", None),
        ("", None),
    ],
)
def test_releases_are_read_from_banners(text: str, value: str | None) -> None:
    assert parse_release(text) == value


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ('#!/bin/sh\nexec /usr/local/cuda-13.0/bin/nvcc "$@"\n', "/usr/local/cuda-13.0/bin/nvcc"),
        ("#!/bin/sh\n# exec /old/bin/nvcc\necho no\n", None),
        ("#!/bin/sh\nexec ccache nvcc\n", None),
    ],
)
def test_wrappers_are_read(script: str, value: str | None) -> None:
    assert parse_wrapper(script) == value


@pytest.mark.parametrize(("number", "value"), [(12080, "12.8"), (13000, "13.0"), (12090, "12.9"), (11080, "11.8")])
def test_the_headers_release_is_read(number: int, value: str) -> None:
    assert parse_cudart_version(f"#define CUDART_VERSION  {number}\n") == value
