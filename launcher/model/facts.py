"""Facts: what is here, each with how it was found.

`None` means *not established*; the reason then stands in `Facts.unknowns`. It never stands for a measured "no" or zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from launcher.model.finding import Finding


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Something that could not be told, and why, as one sentence."""

    subject: str
    because: str


@dataclass(frozen=True, kw_only=True)
class Launcher:
    """Ourselves: needed by plans that run a file of ours or our own interpreter, on whatever machine they are made."""

    version: str
    python: str
    package: str


@dataclass(frozen=True, kw_only=True)
class Host:
    """The machine and who we are on it."""

    system: str  # Linux, Darwin: platform.system()
    machine: str  # x86_64, aarch64
    kernel: str
    pid1: str | None  # command name of process 1
    uid: int
    user: str | None  # name in the password database; None for a uid without an entry
    home: str | None  # home folder in the password database
    cpus: int
    memory: int | None  # bytes
    memory_available: int | None = None  # bytes that can be taken without swapping, within our cgroup's limit
    wsl: bool = False
    # Which of HOME and the password database's home are writable folders; None: not looked at.
    usable_homes: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Systemd:
    """How we stand to systemd. `main_process` is None where unsure."""

    booted: bool  # /run/systemd/system exists
    main_process: bool | None
    notify_socket: bool
    because: str


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The caller's surroundings. In memory `environ` is real; whatever is written has *** for secrets."""

    environ: Mapping[str, str]
    cwd: str
    on_terminal: bool = False  # standard output and standard error both


@dataclass(frozen=True, kw_only=True)
class Torch:
    """What `torch/version.py` in the target says. `cuda` is None for a build without CUDA."""

    version: str
    cuda: str | None
    file: str


@dataclass(frozen=True, kw_only=True)
class Target:
    """The Python (or program) that serves, read without running it.

    `kind` program: a server binary such as llama-server; then `python` and `prefix` are None.
    `packages` maps normalised distribution names (PEP 503) to versions; None where they could not be read.
    """

    kind: Literal["python", "program"]
    path: str  # the interpreter (as it will be run: the venv's bin/python, not its base) or the program
    how: str  # "profile target.venv", "--target", "GPULAUNCH_TARGET", "VIRTUAL_ENV", ...
    prefix: str | None = None
    bin: str | None = None
    version: str | None = None  # Python's, "3.11"
    site_packages: tuple[str, ...] = ()
    packages: Mapping[str, str] | None = None
    torch: Torch | None = None
    exists: bool = True
    executable: bool = True
    readable: bool = True
    python_header: bool | None = None  # Python.h is there (Triton's launcher stub needs it)
    libraries: tuple[str, ...] = ()  # file names of shared libraries in its nvidia wheels: "libnvJitLink.so.13"


@dataclass(frozen=True, kw_only=True)
class Toolkit:
    """One place that may serve as CUDA_HOME.

    `root` is the true root, behind symlinks and wrapper scripts; `found` says every way it was found, first first.
    `release` is what its nvcc says (major.minor); None if it does not run or prints none: `problem` says why.
    `headers_release` comes from CUDART_VERSION in `cuda_runtime_api.h`.
    `parts` names what is there, from the vocabulary of `launcher.facts.toolkits.PARTS`.
    """

    root: str
    kind: Literal["real", "wheel", "distro", "conda", "provisioned"]
    found: tuple[str, ...]
    nvcc: str | None = None  # true path of the compiler
    release: str | None = None
    headers_release: str | None = None
    parts: tuple[str, ...] = ()
    problem: str | None = None
    wheels: Mapping[str, str] = field(default_factory=dict)  # for kind wheel: nvidia distributions and versions
    newest_gcc: int | None = None  # the newest major release of gcc that its crt/host_config.h accepts


@dataclass(frozen=True, kw_only=True)
class Folder:
    """One directory that PATH could hold (the caller's entries and the system's), as it stands."""

    path: str
    origin: Literal["caller", "system", "target", "profile"]
    real: str | None = None  # behind symlinks; None where missing
    exists: bool = True
    readable: bool = True
    nvcc: str | None = None  # the entry "nvcc" in it, or None
    nvcc_root: str | None = None  # the true root of the toolkit behind that nvcc
    programs: tuple[str, ...] = ()  # of LOOKED_FOR, those that can be run from here


@dataclass(frozen=True, kw_only=True)
class HostCompiler:
    """A C++ compiler on the system's PATH: `g++` itself first, then every g++-N. `major` is its major release."""

    path: str
    c_path: str | None  # the C compiler beside it: gcc for g++, gcc-13 for g++-13
    major: int


@dataclass(frozen=True, kw_only=True)
class LibraryFolder:
    """One entry of the caller's or the profile's LD_LIBRARY_PATH, as it stands, with the CUDA and driver libraries in
    it.
    """

    path: str
    exists: bool
    libraries: tuple[str, ...] = ()  # file names
    libcuda: str | None = None  # the true path of its libcuda.so.1: the name behind the links says the version


@dataclass(frozen=True, kw_only=True)
class SystemLibrary:
    """A library where the system keeps it. `cached`: the loader's cache (`ldconfig -p`) knows it."""

    name: str
    path: str
    real: str
    cached: bool


# Programs that a library looks for on PATH, directly or with `which`.
LOOKED_FOR = (
    "nvcc",
    "which",
    "ninja",
    "c++",
    "g++",
    "gcc",
    "cc",
    "clang",
    "ptxas",
    "nvidia-smi",
    "ldconfig",
    "tileiras",
)


@dataclass(frozen=True, kw_only=True)
class Root:
    """A folder by the very words of a variable or a lookup, links and all: what a library meets that takes it for a
    toolkit. `Toolkit` is what truly stands behind it.

    `nvcc` is what becomes of running PATH/bin/nvcc --version: it `runs` and says `release`; it is `silent` (ends with
    0 and names none), `fails` (another exit code), is `missing`, `forbidden` (no x bit: PermissionError),
    `below-a-file` (NotADirectoryError), `no-program` (exec format error).
    """

    path: str
    state: Literal["missing", "file", "folder"]
    nvcc: Literal["runs", "silent", "fails", "missing", "forbidden", "below-a-file", "no-program"]
    release: str | None = None
    holds: tuple[
        str, ...
    ] = ()  # entries below it that lookups ask for: "lib", "lib64", "include", "lib/libcudart.so.13"


@dataclass(frozen=True, kw_only=True)
class NativeModule:
    """A compiled module in the target. `needs` maps the CUDA libraries that it names to where each lies: in the
    target's wheels or where the system's loader looks; None: in neither.
    """

    package: str
    file: str
    needs: Mapping[str, str | None]


@dataclass(frozen=True, kw_only=True)
class CacheFolder:
    """A folder for compiled kernels, as it stands or as the nearest one above it does that exists."""

    path: str
    file_system: str | None  # ext4, nfs4, ... ; None: not found out
    writable: bool


@dataclass(frozen=True, kw_only=True)
class CachedBuild:
    """One module of FlashInfer's in a workspace. `compiler` is what its build.ninja runs, `needs` which libcudart the
    built library names.
    """

    base: str  # the FLASHINFER_WORKSPACE_BASE that it lies below
    folder: str
    module: str
    version: str  # FlashInfer's, by the path
    cuda_home: str | None
    compiler: str
    compiler_exists: bool
    built: bool
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CacheLock:
    """A lock in a cache that somebody holds, or that a dead process has left. `pid` None: nobody that we can see."""

    path: str
    below: str  # the folder that a variable names
    kind: Literal["held", "left"]
    module: str
    pid: int | None = None
    command: str | None = None


@dataclass(frozen=True, kw_only=True)
class Caches:
    """What lies where compiled kernels are kept."""

    folders: tuple[CacheFolder, ...] = ()
    builds: tuple[CachedBuild, ...] = ()
    locks: tuple[CacheLock, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A program that a variable of the caller's names (TRITON_PTXAS_PATH), and what becomes of running it with
    --version; the words are those of `Root.nvcc`.
    """

    path: str
    answer: Literal["runs", "silent", "fails", "missing", "forbidden", "below-a-file", "no-program"]
    release: str | None = None


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU as NVML tells it. Memory in bytes; `capability` is the compute capability, "12.0"."""

    index: int
    name: str
    uuid: str
    capability: str
    memory_total: int
    memory_used: int | None = None
    bus_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Driver:
    """The kernel driver. `cuda` is the newest CUDA it knows, "13.0"."""

    version: str | None
    cuda: str | None
    how: str


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A resource limit by its RLIMIT name without the prefix; -1 is unlimited."""

    name: str
    soft: int
    hard: int


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is here. `gpus` None: could not tell; an empty tuple: NVML answered and there are none."""

    schema_version: int = 1
    launcher: Launcher
    host: Host
    systemd: Systemd
    caller: Caller
    target: Target | None = None
    toolkits: tuple[Toolkit, ...] = ()
    folders: tuple[Folder, ...] = ()
    roots: tuple[Root, ...] = ()  # what the caller's variables, PATH and the usual places spell
    tools: tuple[Tool, ...] = ()  # what the caller's variables name
    programs: Mapping[str, str | None] = field(default_factory=dict)  # word -> where the child finds it
    host_compilers: tuple[HostCompiler, ...] | None = None  # None: not looked at
    library_folders: tuple[LibraryFolder, ...] = ()  # LD_LIBRARY_PATH
    system_libraries: tuple[SystemLibrary, ...] | None = None  # libcuda, NVML, cuDNN; None: could not be asked
    modules: tuple[NativeModule, ...] = ()
    caches: Caches | None = None  # None: not looked at
    driver_mounts: tuple[str, ...] = ()  # folders of LD_LIBRARY_PATH that hold the driver's libraries
    gpus: tuple[Gpu, ...] | None = None
    driver: Driver | None = None
    limits: tuple[Limit, ...] = ()
    findings: tuple[Finding, ...] = ()  # found while looking: a malformed CUDA_HOME, an unreadable PATH entry
    unknowns: tuple[Unknown, ...] = ()
    edited: tuple[str, ...] = ()  # parts that a person changed by hand, and why
