"""The table of commands: every name, also those that are reserved for later versions.

To add one: a file in `launcher/cli/commands/` with a click command named `command`, one line here, one test file. A
file is imported when its command is called: no other command pays for what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One command: the file that holds it, the heading it stands under in --help, and a line about it."""

    module: str
    heading: str
    summary: str


_SERVE, _LOOK, _AFTER = "Serve", "Look, without changing anything", "Afterwards"

# The first five are engines: their names are those of `launcher.engines.ENGINES`.
COMMANDS: dict[str, Entry] = {
    "sglang": Entry("launch", _SERVE, "start SGLang from a profile"),
    "vllm": Entry("launch", _SERVE, "start vLLM from a profile"),
    "llamacpp": Entry("launch", _SERVE, "start a llama.cpp server from a profile"),
    "transformers": Entry("launch", _SERVE, "start a transformers server from a profile"),
    "command": Entry("launch", _SERVE, "start any other server from a profile"),
    "explain": Entry("explain", _LOOK, "what would run, with which toolkit, and why; or what a code means"),
    "check": Entry("check", _LOOK, "every check of a launch, and its exit code"),
    "doctor": Entry("doctor", _LOOK, "from the symptom to the cause: which toolkit each library finds, and why"),
    "env": Entry("env", _LOOK, "the server's environment, or any command inside it"),
    "facts": Entry("facts", _LOOK, "what is known of this machine and the target"),
    "profiles": Entry("profiles", _LOOK, "list, show or copy profiles"),
    "schema": Entry("schema", _LOOK, "the JSON Schema of a profile, for editors"),
    "toolkit": Entry("toolkit", _SERVE, "make a CUDA toolkit from wheels, where none suits"),
    "cache": Entry("cache", _AFTER, "compiled kernels: list them, remove old ones, compile before the start"),
    "logs": Entry("logs", _AFTER, "the log of the latest run, or of the one named"),
    "selftest": Entry("selftest", _AFTER, "try on this machine what gpulaunch promises: signals, cgroups, logs, GPUs"),
    "clean": Entry("clean", _AFTER, "end and remove what earlier runs left behind, where it is proven to be theirs"),
    "stop": Entry("stop", _AFTER, "stop a running server and wait until nothing is left"),
}

ENGINE_NAMES = tuple(name for name, entry in COMMANDS.items() if entry.module == "launch")

# Names that nothing else may take: they come with a later version.
RESERVED: tuple[str, ...] = (
    "import", "compare",
    "ps", "wait", "restart", "runs", "attach", "report", "unit", "sbatch", "completion",
)  # fmt: skip


def starts_a_server(arguments: Sequence[str]) -> bool:
    """True if these words ask for a launch, as far as can be seen before they are read."""
    command = next((word for word in arguments if not word.startswith("-")), None)
    return command in ENGINE_NAMES and not {"--dry-run", "--help"} & set(arguments)
