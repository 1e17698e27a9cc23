"""What must exist before exec: made whole or not at all, made again only where it differs, never inside the target."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from launcher.errors import Refused
from launcher.model import Step
from launcher.prepare import carry_out_steps
from launcher.prepare import view as view_step
from launcher.prepare.driver_functions import DRIVER_FUNCTIONS
from launcher.prepare.stub_library import shared_library


def step(action: str, path: Path, source: Path | None = None, leave_out: tuple[str, ...] = ()) -> Step:
    """A step for a test."""
    return Step(
        action=action,  # type: ignore[arg-type]
        path=str(path),
        because="a test wants it",
        source=str(source) if source else None,
        leave_out=leave_out,
    )


def snapshot(folder: Path) -> dict[str, tuple[int, str]]:
    """Every entry below a folder with its inode and what it leads to."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_ino, os.readlink(path) if path.is_symlink() else "")
        for path in folder.rglob("*")
    }


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """nvidia/cu13 as the wheels lay it out: lib without lib64, versioned libraries only."""
    root = tmp_path / "site-packages/nvidia/cu13"
    for name in ("bin/nvcc", "bin/nvcc.profile", "bin/ptxas", "include/cuda.h", "nvvm/bin/cicc", "lib/libcudart.so.13"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "lib/libcudart_static.a").touch()
    return root


def test_a_folder_is_made_private_with_what_is_missing_above_it(tmp_path: Path) -> None:
    carry_out_steps([step("folder", tmp_path / "a/b")])
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b")] == [0o700, 0o700]


def test_a_view_adds_what_the_wheels_lack(tmp_path: Path, wheels: Path) -> None:
    view = tmp_path / "cache/view"
    carry_out_steps([step("view", view, wheels)])
    assert (view / "bin").is_dir() and not (view / "bin").is_symlink(), (
        "nvcc takes the folder it is called in for its own"
    )
    assert (view / "bin/nvcc").read_text() == "bin/nvcc"
    assert (view / "lib64/libcudart.so").read_text() == "lib/libcudart.so.13"
    assert (view / "lib/libcudart.so").exists()
    assert (view / "lib64/stubs/libcuda.so").exists()
    assert (view / "include/cuda.h").exists() and (view / "nvvm/bin/cicc").exists()


@pytest.mark.parametrize("own", ["targets", "lib64", "lib"])
def test_a_view_links_this_machines_libraries_and_not_a_cross_compilers(tmp_path: Path, own: str) -> None:
    mine, other = {"x86_64": ("x86_64-linux", "sbsa-linux"), "aarch64": ("sbsa-linux", "x86_64-linux")}.get(
        platform.machine(), (None, None)
    )
    if mine is None:
        pytest.skip(f"CUDA has no folder for {platform.machine()}")
    root = tmp_path / "cuda"
    library = {"targets": f"targets/{mine}/lib", "lib64": "lib64", "lib": "lib"}[own]
    headers = f"targets/{mine}/include" if own == "targets" else "include"
    for folder in (f"targets/{other}/lib", f"targets/{other}/include", library, headers, "bin"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "bin/nvcc").touch()
    for folder, text in ((f"targets/{other}/lib", "other"), (library, "mine")):
        (root / folder / "libcudart.so.13").write_text(text)
    for folder, text in ((f"targets/{other}/include", "other"), (headers, "mine")):
        (root / folder / "cuda_runtime.h").write_text(text)
    carry_out_steps([step("view", tmp_path / "view", root)])
    assert (tmp_path / "view/lib64/libcudart.so").read_text() == "mine"
    assert (tmp_path / "view/include/cuda_runtime.h").read_text() == "mine"


def test_the_target_is_never_written_to(tmp_path: Path, wheels: Path) -> None:
    before = snapshot(wheels)
    carry_out_steps([step("view", tmp_path / "cache/view", wheels)])
    assert snapshot(wheels) == before


def test_what_is_there_already_is_left_alone(tmp_path: Path, wheels: Path) -> None:
    steps = [step("view", tmp_path / "c/view", wheels), step("hide-root", tmp_path / "c/hidden")]
    carry_out_steps(steps)
    before = snapshot(tmp_path / "c")
    carry_out_steps(steps)
    assert snapshot(tmp_path / "c") == before


def test_a_view_follows_its_wheels(tmp_path: Path, wheels: Path) -> None:
    view = tmp_path / "cache/view"
    carry_out_steps([step("view", view, wheels)])
    (wheels / "lib/libcurand.so.10").touch()
    carry_out_steps([step("view", view, wheels)])
    assert (view / "lib64/libcurand.so").exists()
    assert [path.name for path in view.parent.iterdir() if path.name != ".lock"] == ["view"], (
        "nothing half-made is left"
    )


def test_everything_that_is_made_is_private(tmp_path: Path, wheels: Path) -> None:
    before = os.umask(0o022)
    try:
        carry_out_steps([step("view", tmp_path / "c/view", wheels), step("hide-root", tmp_path / "c/hidden")])
    finally:
        os.umask(before)
    modes = {
        stat.S_IFMT(mode) | stat.S_IMODE(mode) for path in (tmp_path / "c").rglob("*") if (mode := path.lstat().st_mode)
    }
    assert modes - {stat.S_IFLNK | 0o777} == {stat.S_IFDIR | 0o700, stat.S_IFREG | 0o600}


def test_what_somebody_took_away_is_there_again(tmp_path: Path, wheels: Path) -> None:
    view = tmp_path / "cache/view"
    carry_out_steps([step("view", view, wheels)])
    shutil.rmtree(view / "lib64/stubs")
    carry_out_steps([step("view", view, wheels)])
    assert (view / "lib64/stubs/libcuda.so").exists()


def test_a_build_that_uses_a_view_does_not_miss_it_while_it_is_made_anew(tmp_path: Path, wheels: Path) -> None:
    view = tmp_path / "cache/view"
    carry_out_steps([step("view", view, wheels)])
    # A process of its own looks all the time until the folder `done` is there.
    looking = (
        "import os, sys; nvcc, done = sys.argv[1:]; missed = 0; print('looking', flush=True)\n"
        "while not os.path.exists(done): missed += not os.path.exists(nvcc)\n"
        "print(missed)"
    )
    done = tmp_path / "done"
    words = [sys.executable, "-c", looking, str(view / "bin/nvcc"), str(done)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as builder:
        assert builder.stdout is not None and builder.stdout.readline() == "looking\n"
        for number in range(50):
            (wheels / f"lib/libnew.so.{number}").touch()
            carry_out_steps([step("view", view, wheels)])
        done.mkdir()
        assert builder.stdout.read() == "0\n"


def test_what_a_killed_launcher_left_is_swept_away(tmp_path: Path, wheels: Path) -> None:
    killed = (
        "import os, sys; from pathlib import Path; from launcher.prepare import tree; "
        "tree._replace = lambda path, new: os.kill(os.getpid(), 9); "
        "tree.install(Path(sys.argv[1]), {'a/b': tree.Link('c')})"
    )
    view = tmp_path / "cache/view"
    subprocess.run([sys.executable, "-c", killed, str(view)])
    assert [path for path in view.parent.iterdir() if path.name != ".lock"], "the control: something was left"
    carry_out_steps([step("view", view, wheels)])
    assert {path.name for path in view.parent.iterdir()} == {"view", ".lock"}


@pytest.mark.parametrize(("content", "is_linked"), [(b"", False), (b"\x7fELF...", True)], ids=["empty", "real"])
def test_the_drivers_library_is_linked_unless_a_container_left_an_empty_one(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, is_linked: bool
) -> None:
    (tmp_path / "libcuda.so.1").write_bytes(content)
    monkeypatch.setattr(view_step, "_DRIVERS", (str(tmp_path),))
    carry_out_steps([step("view", tmp_path / "cache/view", wheels)])
    assert (tmp_path / "cache/view/lib64/stubs/libcuda.so").is_symlink() == is_linked


def test_a_machine_without_a_stub_is_a_sentence(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_step, "_DRIVERS", ())
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(Refused, match="riscv64"):
        carry_out_steps([step("view", tmp_path / "view", wheels)])


def test_two_launchers_at_once_make_one_whole_view(tmp_path: Path, wheels: Path) -> None:
    view = tmp_path / "cache/view"
    threads = [threading.Thread(target=carry_out_steps, args=([step("view", view, wheels)],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (view / "lib64/libcudart.so").exists()
    assert {path.name for path in view.parent.iterdir()} == {"view", ".lock"}


def test_a_root_without_a_compiler_has_lib_and_lib64_and_says_what_it_is(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    carry_out_steps([step("hide-root", hidden)])
    assert (hidden / "lib").is_dir() and (hidden / "lib64").is_dir()
    assert not (hidden / "bin").exists()
    assert "gpulaunch" in (hidden / "README").read_text()


def test_a_folder_of_links_holds_everything_but_the_nvcc(tmp_path: Path) -> None:
    source = tmp_path / "bin"
    source.mkdir()
    for name in ("gcc", "ls", "nvcc"):
        (source / name).touch()
    carry_out_steps([step("links", tmp_path / "links", source, ("nvcc",))])
    names = {path.name for path in (tmp_path / "links").iterdir() if not path.name.startswith(".")}
    assert names == {"gcc", "ls"}
    assert (tmp_path / "links/gcc").resolve() == source / "gcc"


def test_programs_still_run_through_links_to_the_systems_folder(tmp_path: Path) -> None:
    carry_out_steps([step("links", tmp_path / "links", Path("/usr/bin"), ("nvcc",))])
    for program in ("ls", "env", "which"):
        if Path("/usr/bin", program).exists():
            found = shutil.which(program, path=str(tmp_path / "links"))
            assert found and subprocess.run([found, "--version"], capture_output=True).returncode in (0, 2)
    assert shutil.which("nvcc", path=str(tmp_path / "links")) is None


def test_every_failure_is_told_at_once_and_nothing_half_made_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refused) as refused:
        carry_out_steps(
            [
                step("folder", tmp_path / "file/below"),
                step("view", tmp_path / "view", tmp_path / "gone"),
                step("folder", tmp_path / "ok"),
            ]
        )
    assert [finding.code for finding in refused.value.findings] == ["prepare-failed", "prepare-failed"]
    assert (tmp_path / "ok").is_dir()
    assert not (tmp_path / "view").exists()


def test_the_tiny_model_is_made_once_and_is_the_same_everywhere(tmp_path: Path) -> None:
    one, other = tmp_path / "a/tiny.gguf", tmp_path / "b/tiny.gguf"
    carry_out_steps([step("tiny-model", one), step("tiny-model", other)])
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes().startswith(b"GGUF")
    assert [path.name for path in one.parent.iterdir()] == ["tiny.gguf"]


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A C function that calls the driver, and a stub of libcuda beside it."""
    (tmp_path / "f.c").write_text("extern int cuInit(unsigned); int f(void) { return cuInit(0); }\n")
    stub = shared_library("libcuda.so.1", platform.machine(), DRIVER_FUNCTIONS)
    (tmp_path / "libcuda.so").write_bytes(stub)
    return tmp_path


@pytest.mark.parametrize("flags", [(), ("-Wl,--as-needed",), ("-Wl,--no-undefined",)])
def test_a_real_linker_takes_the_stub_for_libcuda(linked: Path, flags: tuple[str, ...]) -> None:
    """unslothai/unsloth-zoo#1099: `-lcuda` fails after minutes of compiling where there is no stub."""
    command = ["gcc", "-shared", "-fPIC", *flags, "f.c", "-o", "f.so", "-L.", "-lcuda"]
    subprocess.run(command, cwd=linked, check=True)
    assert b"libcuda.so.1" in (linked / "f.so").read_bytes(), "the library asks for the driver at run time"


def test_the_control_does_not_link(linked: Path) -> None:
    (linked / "libcuda.so").unlink()
    command = ["gcc", "-shared", "-fPIC", "f.c", "-o", "f.so", "-L.", "-nodefaultlibs", "-lcuda-of-nobody"]
    assert subprocess.run(command, cwd=linked, capture_output=True).returncode != 0


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_stub_is_written_for_each_machine(machine: str) -> None:
    stub = shared_library("libcuda.so.1", machine)
    assert stub[:4] == b"\x7fELF"
    assert int.from_bytes(stub[18:20], "little") == {"x86_64": 62, "aarch64": 183}[machine]


def test_modes_are_private_whatever_the_umask_takes_away(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        carry_out_steps([step("hide-root", tmp_path / "a/hidden")])
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/hidden", "a/.lock")] == [
        0o700,
        0o700,
        0o600,
    ]
