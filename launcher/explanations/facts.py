"""Codes of findings made while looking at the machine."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "toolkit-variable-malformed": Explanation(
        cause="CUDA_HOME or CUDA_PATH of the caller names no folder; libraries take it as it is and fail in builds.",
        evidence="The value is empty, relative, a list, a file or missing (vllm-project/vllm#36077).",
        fix="unset the variable in the shell; the server gets a right one in any case.",
    ),
    "path-entry-malformed": Explanation(
        cause="An empty or relative entry of PATH means the working folder.",
        evidence="The caller's PATH.",
        fix="Correct the line in the shell's start files; the server's PATH is composed anew.",
    ),
    "path-entry-unreadable": Explanation(
        cause="A directory on PATH cannot be read by this user, so nobody can tell whether it holds an nvcc.",
        evidence="access(2) says no.",
        fix="Nothing, unless a program of it is needed.",
    ),
    "facts-malformed": Explanation(
        cause="A file of facts is not what gpulaunch facts --json writes.",
        evidence="The message names the place.",
        fix="Write it again on the machine it describes.",
    ),
    "facts-unreadable": Explanation(
        cause="A file of facts may not be read by this user.",
        evidence="open(2) was refused.",
        fix="Correct its mode.",
        exit_code=errors.NO_PERMISSION,
    ),
}
