"""Codes of findings made by the command line itself."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "not-linux": Explanation(
        cause="Supervision rests on what only Linux has: /proc, child sub-reapers, process file descriptors.",
        evidence="uname.",
        fix="Launch on the Linux machine; explain, check --facts, profiles and schema work here.",
        exit_code=errors.UNAVAILABLE,
    ),
    "command-not-found": Explanation(
        cause="The command after -- is not in any folder of the planned PATH, which is composed and not the caller's.",
        evidence="`gpulaunch explain` lists the planned PATH entry by entry.",
        fix="Name the command by its path, or add its folder with env.path in the profile.",
        exit_code=errors.NOT_FOUND,
    ),
    "command-not-executable": Explanation(
        cause="The command after -- is there, but the kernel does not run it.",
        evidence="access(2) or execve(2) said no.",
        fix="chmod +x, or name its interpreter first.",
        exit_code=errors.NOT_EXECUTABLE,
    ),
    "no-log": Explanation(
        cause="The run left no log: its folder could not be written, or it became the server with --exec.",
        evidence="There is no server.log in the run's folder.",
        fix="journalctl or the terminal may have it.",
        exit_code=errors.FAILED,
    ),
    "already-there": Explanation(
        cause="A file of that name exists, and gpulaunch overwrites no profile.",
        evidence="The file system.",
        fix="Choose another name, or remove the file.",
        exit_code=errors.USAGE,
    ),
    "cannot-write": Explanation(
        cause="The system refused to write a file or folder.",
        evidence="The message says which, and what the system answered.",
        fix="Choose another place, or correct the mode of the folder.",
        exit_code=errors.NO_PERMISSION,
    ),
}
