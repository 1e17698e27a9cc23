"""Codes of findings made while carrying out a plan."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "port-taken": Explanation(
        cause="Another process listens at the server's port; a health probe would be answered by it.",
        evidence="A bind before the start was refused (EADDRINUSE).",
        fix="Stop the process that is named, or choose another port.",
        exit_code=errors.TRY_AGAIN,
    ),
    "port-unusable": Explanation(
        cause="The host is no address of this machine, or cannot be resolved.",
        evidence="A bind before the start was refused.",
        fix="Correct args.host.",
    ),
    "port-forbidden": Explanation(
        cause="Ports below 1024 need a privilege that this user lacks.",
        evidence="A bind before the start was refused (EACCES).",
        fix="Choose a higher port, or give the unit CAP_NET_BIND_SERVICE.",
        exit_code=errors.NO_PERMISSION,
    ),
    "program-missing": Explanation(
        cause="The program of the command line is not where the plan says, nor on the planned PATH.",
        evidence="exec(2) found no file.",
        fix="Correct the target or the command.",
        exit_code=errors.NOT_FOUND,
    ),
    "interpreter-missing": Explanation(
        cause="The program is a script whose interpreter is gone: a moved virtual environment keeps its old paths.",
        evidence="exec(2) found no file though the script is there; the message quotes its first line.",
        fix="Make the environment anew at its place, or name the program's interpreter in the command.",
        exit_code=errors.NOT_EXECUTABLE,
    ),
    "program-not-executable": Explanation(
        cause="The program is there but the system will not run it.",
        evidence="exec(2) was refused.",
        fix="Check mode, architecture and mount options (noexec).",
        exit_code=errors.NOT_EXECUTABLE,
    ),
    "cwd-missing": Explanation(
        cause="The working folder of the plan does not exist.",
        evidence="chdir(2) failed before exec.",
        fix="Correct cwd in the profile.",
    ),
    "cwd-forbidden": Explanation(
        cause="This user may not enter the working folder (ProtectHome=, another user's home).",
        evidence="chdir(2) was refused before exec.",
        fix="Set cwd to a folder of the service.",
        exit_code=errors.NO_PERMISSION,
    ),
    "exec-with-notify": Explanation(
        cause="The unit waits for READY=1, which a process that has become the server cannot send.",
        evidence="NOTIFY_SOCKET is set and --exec was given.",
        fix="Leave --exec out, or use Type=exec.",
        exit_code=errors.USAGE,
    ),
    "state-unwritable": Explanation(
        cause="The state folder cannot be written by this user.",
        evidence="mkdir(2) or open(2) was refused.",
        fix="XDG_STATE_HOME, or StateDirectory= in the unit.",
    ),
    "no-such-run": Explanation(
        cause="No recorded run has that profile or id.",
        evidence="The run folders below the state folder.",
        fix="gpulaunch logs without a name shows the latest run.",
    ),
    "no-linger": Explanation(
        cause="systemd ends a user's processes with the user's last session, unless the user lingers; a server that "
        "was started over SSH then ends without a word of its own (vllm-project/vllm#50067).",
        evidence="Our cgroup lies below user.slice, and /var/lib/systemd/linger has no file of this user's name.",
        fix="loginctl enable-linger USER, or a system unit.",
    ),
    "prepare-failed": Explanation(
        cause="Something that must exist before the server starts could not be made.",
        evidence="The message names the path and what the system said.",
        fix="Give gpulaunch a cache folder with room, on a local disk.",
    ),
    "prepare-forbidden": Explanation(
        cause="The cache folder cannot be written by this user.",
        evidence="mkdir(2) or open(2) was refused.",
        fix="XDG_CACHE_HOME, or CacheDirectory= in the unit.",
        exit_code=errors.NO_PERMISSION,
    ),
}
