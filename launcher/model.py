"""The nouns: Facts, Plan, Outcome and the small values they are made of.

Plain frozen values and nothing else: every module may import this one, it imports none of ours, and it never
looks at the machine. The fourth noun, Profile, is a validated model of its own: `launcher.profile.schema`.

`None` in Facts means *not established*; the reason then stands in `Facts.unknowns`. It never stands for a
measured "no" or zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

# --------------------------------------------------------------------------------------------------------------
# Findings


class Severity(str, Enum):
    """How much a finding weighs: an error stops the launch."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing the operator should know: what is so, and what to do.

    `code` is stable and explained by `gpulaunch explain CODE`; `message` and `fix` are one sentence each.
    `exit_code` is the launch's exit code if this is the finding to mend first (0 unless an error).
    Make one with `launcher.findings.error`, `warning` or `note`, which know the exit code of each code.
    """

    code: str
    severity: Severity
    message: str
    fix: str = ""
    file: str | None = None
    line: int | None = None
    exit_code: int = 0


@dataclass(frozen=True)
class Where:
    """A place in a profile: a file and a line that counts from 1."""

    file: str
    line: int | None


# --------------------------------------------------------------------------------------------------------------
# Facts: what is here, each with how it was found


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


# --------------------------------------------------------------------------------------------------------------
# Predictions: what a library's own lookup returns


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one library's lookup returns in one environment, predicted by us or told by the library itself.

    `path` is what it takes for the toolkit, in its own spelling; `release` what it takes for the CUDA release; `archs`
    what it would build for, in its own spelling, ascending. None: it raises there, and `errors` says which exception
    by the part's name ("path", "release", "archs", "check"), or this library does not ask for it.
    """

    path: str | None = None
    release: str | None = None
    archs: tuple[str, ...] | None = None
    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What a consumer will find: in the caller's environment, and in the planned one. None: could not tell."""

    consumer: str
    version: str | None
    callers: Found | None
    planned: Found | None
    consequence: str = ""  # what follows from the caller's, as a phrase; empty where it does no harm


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a library itself said in one environment, beside what was predicted of it.

    `because` says why nothing could be told: it was not asked, it took too long, it broke. Not `lasting`: it may be
    otherwise the next time, though nothing changed.
    """

    consumer: str
    version: str | None
    environment: Literal["planned", "callers"]
    verdict: Literal["as-predicted", "not-as-predicted", "could-not-tell"]
    predicted: Found | None
    found: Found | None
    because: str = ""
    lasting: bool = True


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One step of a build that was tried: its command line, and what it said where it did not pass."""

    step: str
    command: str
    state: Literal["passed", "failed", "not-tried"]
    output: tuple[str, ...] = ()


# --------------------------------------------------------------------------------------------------------------
# Plan: what we would do, and why


@dataclass(frozen=True, kw_only=True)
class Change:
    """What happens to one variable. `value` None: dropped. `secret`: shown as *** everywhere."""

    name: str
    action: Literal["set", "pass", "drop"]
    value: str | None
    origin: str  # caller, repair, cuda, engine, profile, operator, run
    because: str
    secret: bool = False


@dataclass(frozen=True, kw_only=True)
class Step:
    """Something that must exist before exec: idempotent and atomic. Carried out by `launcher.prepare`.

    Actions: `folder` (make a private folder), `view` (complete the toolkit `source` by links), `provision` (make the
    toolkit of the release `source` from wheels), `hide-root` (a root with lib/ and no compiler), `links` (a folder of
    links to what is in `source`, without the names in `leave_out`), `tiny-model` (a tiny GGUF),
    `move-aside` (a cached build into a folder beside its own).
    """

    action: Literal["folder", "view", "hide-root", "links", "tiny-model", "provision", "move-aside"]
    path: str
    because: str
    source: str | None = None
    leave_out: tuple[str, ...] = ()


Strategy = Literal["keep", "redirect", "wheel", "provisioned", "hide", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement of one candidate root, as a sentence with the numbers that decided it."""

    root: str
    fits: bool
    because: str  # all objections, joined by "; ", the weightiest first

    @property
    def main_reason(self) -> str:
        """The weightiest objection alone."""
        return self.because.partition("; ")[0]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The one named root. `root` is what CUDA_HOME will say; `release` None for hide.

    `source` is the true root behind it, another one where `root` is a view of it.
    """

    root: str
    source: str | None = None
    release: str | None
    strategy: Strategy
    how: str
    because: str
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where the server listens, read from the final argv."""

    host: str
    port: int

    @property
    def probe_host(self) -> str:
        """A wildcard is no address to connect to: it is probed on loopback."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1", "*": "127.0.0.1"}.get(self.host, self.host)


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """How we know that it answers: the URL must return a 2xx, then, if asked, the server must generate one token.

    In seconds: `timeout` in any case, `stall` without any progress of log or counters; 0: none while it lives.
    """

    url: str
    timeout: float = 0.0
    stall: float = 0.0
    generate: bool = False


@dataclass(frozen=True, kw_only=True)
class Liveness:
    """How we know that a ready server still works: requests run, and no token came for `stall` seconds: it hangs.

    `generate` asks an idle one for a token now and then. `url` is the server's own address, without a path.
    """

    url: str
    stall: float
    generate: bool = False


@dataclass(frozen=True, kw_only=True)
class Restarts:
    """What follows an end that nobody asked for: at most `max` new starts, the first after `delay` seconds.

    `left_to` says who starts it again instead of us, empty for nobody.
    """

    policy: Literal["never", "on-failure"] = "never"
    max: int = 5
    delay: float = 2.0
    left_to: str = ""


@dataclass(frozen=True, kw_only=True)
class Logging:
    """How the server's output is kept: a new file at `rotate` bytes, `keep` files of a run; of all runs of a profile
    at most `total` bytes and none older than `age` seconds (0: no bound). `terminal` pty: the server sees a terminal.
    """

    rotate: int = 64 << 20
    keep: int = 8
    total: int = 4 << 30
    age: float = 0.0
    format: Literal["text", "json"] = "text"
    terminal: Literal["pipe", "pty"] = "pipe"


@dataclass(frozen=True, kw_only=True)
class TargetUsed:
    """Which target the plan is for, and how it was found."""

    python: str | None
    program: str | None
    how: str


@dataclass(frozen=True, kw_only=True)
class PathEntry:
    """One directory of the child's PATH and why it is there."""

    path: str
    because: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What we would do and why. Blocked if any finding is an error."""

    profile: str
    file: str
    engine: str
    target: TargetUsed | None
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    changes: tuple[Change, ...]
    prepare: tuple[Step, ...]
    toolkit: Choice
    findings: tuple[Finding, ...]
    endpoint: Endpoint | None = None
    ready: Readiness | None = None  # None: `ready: none`, READY right after exec
    grace: float = 30.0  # seconds between the leader's TERM and the sweep
    live: Liveness | None = None  # None: nobody asks a server that is ready
    restarts: Restarts = field(default_factory=Restarts)
    logging: Logging = field(default_factory=Logging)
    gpus: tuple[Gpu, ...] | None = None  # those that the server will see; None: could not be told
    limits: tuple[Limit, ...] = ()  # soft limits to set before exec; `hard` as found
    search_path: tuple[PathEntry, ...] = ()  # PATH entry by entry
    predictions: tuple[Prediction, ...] = ()
    secrets: frozenset[str] = frozenset()  # values that are never printed
    secret_arguments: frozenset[int] = frozenset()  # positions in argv that print as ***

    @property
    def blocked(self) -> bool:
        """True if the launch must not happen."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the operator said once, on the command line: it stands above the profile."""

    env: tuple[tuple[str, str], ...] = ()  # --env NAME=VALUE
    keep_env: tuple[str, ...] = ()  # --keep-env NAME
    flags: tuple[str, ...] = ()  # engine flags after --


# --------------------------------------------------------------------------------------------------------------
# Outcome: how it ended


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended. `exit_code` is ours; `child` says what the leader did ("exit 0", "signal 9", "not started").

    `origin` tells whose code it is, as a child may use 75 or 78 for purposes of its own.
    """

    exit_code: int
    cause: str
    origin: Literal["launcher", "child"]
    child: str
    requested: bool
    ready: bool
    run_folder: str | None = None
    log: str | None = None
    last_lines: tuple[str, ...] = ()
    swept: int = 0  # descendants that had to be ended after the leader
    fix: str | None = None  # after a failure: what to do, a sentence
    failure: str | None = None  # and its class, `launcher.causes.classes.Failure`
    attempts: int = 1  # starts, the first one counted
