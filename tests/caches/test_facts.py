"""What lies in caches is read as it stands: builds, disks and locks with those who hold them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from launcher.facts import caches, holders
from launcher.model import Caches
from launcher.paths import places
from tests.caches.trees import flashinfer_build

HOLDS = """
import fcntl, sys, time
file = open(sys.argv[1], "a")
if sys.argv[2] == "flock":
    fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def somebody_holds(file: Path, how: str = "flock") -> Iterator[int]:
    """Another process has the file open, or locked."""
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", HOLDS, str(file), how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        yield holder.pid
        holder.stdin.close()


def look(home: Path, **environ: str) -> Caches:
    """A caller whose home this is."""
    said = {"HOME": str(home), **environ}
    return caches.look(None, said, places(said, home=None, uid=1000))


def test_builds_are_found_in_the_own_roots_in_the_home_and_where_a_variable_says(tmp_path: Path) -> None:
    flashinfer_build(tmp_path, "norm")
    flashinfer_build(tmp_path / ".cache/gpulaunch/jit/13.0-sglang-abc/flashinfer", "page")
    flashinfer_build(tmp_path / "elsewhere", "rope", cuda_home="/opt/cuda")
    found = look(tmp_path, FLASHINFER_WORKSPACE_BASE=str(tmp_path / "elsewhere")).builds
    assert [build.module for build in found] == ["rope", "page", "norm"]
    assert [build.cuda_home for build in found] == ["/opt/cuda", "/usr/local/cuda", "/usr/local/cuda"]
    assert found[0].base == str(tmp_path / "elsewhere")
    assert found[0].version == "0.6.8"


def test_the_compiler_that_a_build_runs_is_named_and_looked_for(tmp_path: Path) -> None:
    root = tmp_path / "cuda-12.4"
    (root / "bin").mkdir(parents=True)
    (root / "bin/nvcc").touch()
    flashinfer_build(tmp_path, "there", cuda_home=str(root))
    flashinfer_build(tmp_path, "gone", cuda_home=f"{root}-gone")
    flashinfer_build(tmp_path, "other", nvcc=f"{root}/bin/nvcc")
    found = {build.module: build for build in look(tmp_path).builds}
    assert (found["there"].compiler, found["there"].compiler_exists) == (f"{root}/bin/nvcc", True)
    assert (found["gone"].compiler, found["gone"].compiler_exists) == (f"{root}-gone/bin/nvcc", False)
    assert (found["other"].compiler, found["other"].cuda_home) == (f"{root}/bin/nvcc", "/usr/local/cuda")


def test_a_built_library_says_which_cuda_runtime_it_needs(tmp_path: Path) -> None:
    flashinfer_build(tmp_path, "built", needs=("libcudart.so.12", "libc.so.6"))
    flashinfer_build(tmp_path, "begun")
    found = {build.module: build for build in look(tmp_path).builds}
    assert (found["built"].built, found["built"].needs) == (True, ("libcudart.so.12",))
    assert (found["begun"].built, found["begun"].needs) == (False, ())


def test_what_was_moved_aside_is_no_build_any_more(tmp_path: Path) -> None:
    folder = flashinfer_build(tmp_path)
    aside = folder.parent.with_name("cached_ops.set-aside-2026-12-01")
    aside.mkdir()
    folder.rename(aside / folder.name)
    assert look(tmp_path).builds == ()


def test_r065_flashinfer_993_the_holder_of_a_real_lock_is_found_with_its_command(tmp_path: Path) -> None:
    folder = flashinfer_build(tmp_path)
    file = folder.parent / "tmp/sampling.lock"
    with somebody_holds(file) as pid:
        (lock,) = look(tmp_path).locks
        assert (lock.pid, lock.kind, lock.module) == (pid, "held", "sampling")
        assert lock.command is not None
        assert sys.executable in lock.command
    # The file of a lock that was let go stays, and means nothing.
    assert file.exists()
    assert look(tmp_path).locks == ()


def test_r065_flashinfer_993_an_open_file_without_a_lock_on_it_is_none(tmp_path: Path) -> None:
    folder = flashinfer_build(tmp_path)
    with somebody_holds(folder.parent / "tmp/sampling.lock", "open"):
        assert look(tmp_path).locks == ()


def test_torchs_lock_is_its_file_and_without_a_living_maker_it_was_left(tmp_path: Path) -> None:
    file = tmp_path / ".cache/torch_extensions/py311_cu130/my_op/lock"
    with somebody_holds(file, "open") as pid:
        (held,) = look(tmp_path).locks
        assert (held.kind, held.pid, held.module) == ("held", pid, "my_op")
    (left,) = look(tmp_path).locks
    assert (left.kind, left.pid) == ("left", None)
    file.unlink()
    assert look(tmp_path).locks == ()


def test_our_own_folder_is_described_before_it_exists(tmp_path: Path) -> None:
    (folder,) = look(tmp_path).folders
    assert folder.path == f"{tmp_path}/.cache/gpulaunch"
    assert folder.writable
    assert folder.file_system
    tmp_path.joinpath(".cache").write_text("a file in the way")
    assert not look(tmp_path).folders[0].writable


MOUNTINFO = """\
22 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw
28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 28 0:35 / /home rw,relatime shared:20 - nfs4 server:/home rw,vers=4.2
41 40 8:2 / /home/with\\040space rw,relatime - xfs /dev/sdb1 rw
broken
"""


def test_mounts_are_read_with_optional_fields_and_odd_names() -> None:
    found = caches.parse_mounts(MOUNTINFO)
    assert found == {"/proc": "proc", "/": "ext4", "/home": "nfs4", "/home/with space": "xfs"}


@given(st.text())
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    caches.parse_mounts(text)
    caches.parse_ninja(text)
    holders.parse_locks(text)


LOCKS = """\
1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF
1: -> FLOCK  ADVISORY  WRITE 4712 08:01:1234 0 EOF
2: POSIX  ADVISORY  READ  815 00:1c:99 128 128
3: FLOCK  ADVISORY  WRITE -1 00:1c:7 0 EOF
"""


def test_those_who_wait_for_a_lock_do_not_hold_it() -> None:
    assert holders.parse_locks(LOCKS) == {1234: (4711,), 99: (815,), 7: (-1,)}


@given(
    module=st.from_regex(r"[a-z_]{1,20}", fullmatch=True), home=st.from_regex(r"/[a-z0-9./ -]{0,40}", fullmatch=True)
)
def test_the_head_of_a_ninja_file_says_module_and_toolkit(module: str, home: str) -> None:
    said = caches.parse_ninja(f"name = {module}\ncuda_home = {home}\nrule compile\n  command = $nvcc\n")
    assert said == {"name": module, "cuda_home": home.strip()}
