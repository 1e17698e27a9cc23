"""The usual places, on machines of other kinds: described by a tree of their folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from launcher.facts import look as look_at_everything
from launcher.facts import toolkits as looking
from launcher.facts.toolkits import Surroundings, look
from launcher.model import Facts, Target, Toolkit
from launcher.paths import places
from launcher.planning.choosing import callers_root
from launcher.profile.asked import Asked
from launcher.situation import Situation
from tests.builders import asked, facts
from tests.facts import trees


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's /, as far as a lookup goes."""
    for name, place in (("_LOCAL", "usr/local"), ("_OPT", "opt"), ("_HPC_SDK", "opt/nvidia/hpc_sdk")):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(looking, name, tmp_path / place)
    return tmp_path


def found(root: Path, machine: str = "x86_64", **environ: str) -> list[Toolkit]:
    """What is found below the root, and nothing of the machine that runs the test."""
    toolkits, _ = look(Surroundings(environ, machine=machine))
    return [toolkit for toolkit in toolkits if toolkit.root.startswith(str(root))]


def whole(folder: Path, release: str, target: str) -> Path:
    """A toolkit whose headers and libraries lie below targets/TARGET, as NVIDIA installs it."""
    trees.toolkit(folder, release)
    for name in ("include/cuda_runtime.h", "lib/libcudart.so", "lib/libcudart.so.13", "lib/stubs/libcuda.so"):
        (folder / "targets" / target / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "targets" / target / name).touch()
    major, minor = release.split(".")
    header = folder / "targets" / target / "include/cuda_runtime_api.h"
    header.write_text(f"#define CUDART_VERSION {int(major) * 1000 + int(minor) * 10}\n")
    (folder / "lib64").symlink_to(f"targets/{target}/lib")
    (folder / "include").symlink_to(f"targets/{target}/include")
    return folder


def test_the_link_is_the_toolkit_that_it_leads_to_and_says_so(root: Path) -> None:
    for release in ("12.8", "13.0", "12.10"):
        whole(root / f"usr/local/cuda-{release}", release, "x86_64-linux")
    (root / "usr/local/cuda").symlink_to("cuda-12.8")
    made = found(root)
    assert [Path(toolkit.root).name for toolkit in made] == ["cuda-12.8", "cuda-13.0", "cuda-12.10"]
    local = root / "usr/local"
    assert made[0].found == (f"{local}/cuda (a link to {local}/cuda-12.8)", f"{local}/cuda-12.8")


def test_a_link_to_nothing_is_no_place(root: Path) -> None:
    (root / "usr/local/cuda").symlink_to("cuda-12.8")
    (root / "usr/local/cuda-11").touch()
    assert found(root) == []


def test_archs_opt_cuda_is_found(root: Path) -> None:
    whole(root / "opt/cuda", "13.0", "x86_64-linux")
    assert [(toolkit.root, toolkit.release) for toolkit in found(root)] == [(f"{root}/opt/cuda", "13.0")]


@pytest.mark.parametrize(
    ("machine", "target"), [("x86_64", "x86_64-linux"), ("aarch64", "sbsa-linux"), ("aarch64", "aarch64-linux")]
)
def test_each_machine_has_its_own_folders(root: Path, machine: str, target: str) -> None:
    folder = whole(root / "usr/local/cuda-13.0", "13.0", target)
    (folder / "include").unlink()
    (folder / "lib64").unlink()
    (toolkit,) = found(root, machine)
    assert toolkit.headers_release == "13.0"
    assert {"cuda_runtime.h", "libcudart.so", "libcudart.so.N", "libcuda-stub"} <= set(toolkit.parts)


@pytest.mark.parametrize(
    ("machine", "target"), [("x86_64", "sbsa-linux"), ("aarch64", "x86_64-linux"), ("riscv64", "x86_64-linux")]
)
def test_a_cross_compilers_headers_and_libraries_are_not_this_machines(root: Path, machine: str, target: str) -> None:
    folder = whole(root / "usr/local/cuda-13.0", "13.0", target)
    (folder / "include").unlink()
    (folder / "lib64").unlink()
    (toolkit,) = found(root, machine)
    assert toolkit.headers_release is None
    assert not {"cuda_runtime.h", "libcudart.so", "libcuda-stub"} & set(toolkit.parts)


@pytest.mark.parametrize(("machine", "folder"), [("x86_64", "Linux_x86_64"), ("aarch64", "Linux_aarch64")])
def test_the_hpc_sdk_has_several_toolkits_by_machine_the_newest_first(root: Path, machine: str, folder: str) -> None:
    sdk = root / "opt/nvidia/hpc_sdk" / folder
    target = {"x86_64": "x86_64-linux", "aarch64": "sbsa-linux"}[machine]
    for release in ("25.1/cuda/12.6", "25.7/cuda/12.9", "25.7/cuda/13.0", "25.11/cuda/13.0"):
        whole(sdk / release, release.rpartition("/")[2], target)
    made = found(root, machine)
    assert [toolkit.root.removeprefix(f"{sdk}/") for toolkit in made] == [
        "25.11/cuda/13.0",
        "25.7/cuda/13.0",
        "25.7/cuda/12.9",
        "25.1/cuda/12.6",
    ]
    assert {toolkit.found for toolkit in made} == {("NVIDIA's HPC SDK",)}
    # cuRAND is in math_libs, which is no part of a root.
    assert not [toolkit for toolkit in made if "curand_kernel.h" in toolkit.parts]
    assert found(root, {"x86_64": "aarch64", "aarch64": "x86_64"}[machine]) == []


def test_an_hpc_sdk_elsewhere_is_where_its_module_says(root: Path) -> None:
    whole(root / "apps/nvhpc/Linux_x86_64/25.7/cuda/13.0", "13.0", "x86_64-linux")
    told = f"{root}/apps/nvhpc/Linux_x86_64/25.7"
    assert [toolkit.root for toolkit in found(root, NVHPC_ROOT=told)] == [f"{told}/cuda/13.0"]
    for nothing in ("", "25.7", f"{root}/nowhere"):
        assert found(root, NVHPC_ROOT=nothing) == []


def in_target(*files: str, tmp_path: Path) -> list[Toolkit]:
    """What is found of files in a target's site-packages."""
    site = trees.site(tmp_path / "venv")
    for file in files:
        trees.script(site / file, "echo 'ptxas: NVIDIA (R) Ptx optimizing assembler'")
    target = Target(kind="python", path=f"{tmp_path}/venv/bin/python", how="--target", site_packages=(str(site),))
    made, _ = look(Surroundings({}, target=target))
    return [toolkit for toolkit in made if toolkit.root.startswith(str(site))]


@pytest.mark.parametrize(
    ("file", "way"),
    [
        ("nvidia/cuda_nvcc/bin/ptxas", "the target's CUDA 12 wheels, which bring ptxas alone"),
        ("torch/bin/ptxas", "torch's own ptxas"),
    ],
)
def test_what_holds_an_assembler_alone_is_named_and_is_no_compiler(tmp_path: Path, file: str, way: str) -> None:
    (toolkit,) = in_target(file, tmp_path=tmp_path)
    assert (toolkit.found, toolkit.release) == ((way,), None)
    assert toolkit.problem == "there is no nvcc in it"
    assert in_target(tmp_path=tmp_path / "other") == []


def test_every_way_that_is_told_is_one_that_the_choice_reads(root: Path) -> None:
    """`callers_root` reads the ways by their first words."""
    whole(root / "usr/local/cuda-13.0", "13.0", "x86_64-linux")
    environ = {"PATH": f"{root}/usr/local/cuda-13.0/bin"}
    by_path = tuple(look(Surroundings(environ))[0])
    own = callers_root(_situation(by_path))
    assert own is not None and own.root == f"{root}/usr/local/cuda-13.0"


def _situation(toolkits: tuple[Toolkit, ...]) -> Situation:
    here = facts(toolkits=toolkits)
    return Situation(asked=asked(), facts=here, places=places({}, home="/home/serve", uid=1000))


# Too long for a name, bytes that are no text, a line break, a shell's abbreviation: as environments have them.
ODD = ["/" + "x" * 5000, "/\udcff/cuda", "/a\nb", "~/cuda", "//"]


@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(
    "name", ["CUDA_HOME", "CUDA_PATH", "PATH", "CONDA_PREFIX", "NVHPC_ROOT", "LD_LIBRARY_PATH", "HOME", "VIRTUAL_ENV"]
)
def test_no_value_is_an_exception(tmp_path: Path, name: str, value: str) -> None:
    seen = everything({"PATH": "/usr/bin", "HOME": str(tmp_path), name: value}, cwd=str(tmp_path))
    assert seen.caller.environ[name] == value


@pytest.mark.parametrize("value", ODD[:2], ids=range(2))
def test_no_target_and_no_toolkit_of_a_profile_is_an_exception(tmp_path: Path, value: str) -> None:
    wish = asked(cuda={"toolkit": value}, target={"venv": value}, env={"path": [value]})
    seen = everything({"HOME": str(tmp_path)}, cwd=str(tmp_path), wish=wish)
    assert seen.target is not None and not seen.target.exists


def everything(environ: dict[str, str], *, cwd: str, wish: Asked | None = None) -> Facts:
    """All that is looked at."""
    return look_at_everything(wish, environ=environ, cwd=cwd)
