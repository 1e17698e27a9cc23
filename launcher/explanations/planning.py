"""Codes of findings made while planning."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "live-without-address": Explanation(
        cause="The profile turns `live` on, which reads the server's /metrics, and names no address of the server.",
        evidence="An engine's address is read from its command line; for engine: command it comes from ready.url.",
        fix="ready: {url: http://127.0.0.1:PORT/health}, or leave live out.",
    ),
    "restart-left-to-systemd": Explanation(
        cause="The profile asks for restarts, and gpulaunch is, or may be, the main process of a unit of systemd. Two "
        "layers that restart one server multiply: the inner one uses up its tries, and the outer one begins anew.",
        evidence="NOTIFY_SOCKET is set, or SYSTEMD_EXEC_PID is our own process or that of a wrapper above us; "
        "INVOCATION_ID alone is inherited by every shell below a unit, so it says perhaps.",
        fix="Restart=on-failure, RestartSec= and StartLimitIntervalSec= in the unit. Outside of a unit, unset "
        "INVOCATION_ID to have gpulaunch start the server again itself.",
    ),
    "toolkit-replaced": Explanation(
        cause="The environment leads libraries to a CUDA toolkit that does not suit torch, the GPUs or a library.",
        evidence="gpulaunch ran the nvcc that CUDA_HOME, CUDA_PATH, PATH or /usr/local/cuda lead to and compared its "
        "release with torch/version.py, the GPUs' compute capability and the library's own rule. FlashInfer 0.6.7 to "
        "0.7.0 asks for 12.9 on 12.x, hides its own refusal and fails much later with the words "
        '"requires GPUs with sm75 or higher".',
        fix="Nothing: the server gets the toolkit that suits. To be rid of the note, remove the old toolkit from PATH.",
    ),
    "toolkit-hidden": Explanation(
        cause="No CUDA toolkit here suits the target, so the server gets a root without a compiler: libraries then go "
        "by the CUDA release of torch, which is right, but can compile nothing.",
        evidence="`gpulaunch explain` lists every toolkit with the reason why it does not fit.",
        fix="Install the wheels that the finding names into the target, or a toolkit of torch's release; packages with "
        "prebuilt kernels (flashinfer-jit-cache of the very same version) make a compiler unnecessary.",
    ),
    "toolkit-refused": Explanation(
        cause="The profile names a toolkit in cuda.toolkit that cannot serve; nothing else is tried behind its back.",
        evidence="The message says what is wrong with the one that was asked for.",
        fix="cuda: {toolkit: auto}, or the path of a toolkit that fits.",
    ),
    "toolkit-of-another-minor": Explanation(
        cause="The best toolkit here is of torch's major but not of its minor release.",
        evidence="nvcc --version against torch/version.py.",
        fix="Install a toolkit of torch's very release; the finding names the wheels.",
    ),
    "torch-below-floor": Explanation(
        cause="A library asks for a newer CUDA than torch itself was built for, and hiding the compiler would make it "
        "go by torch's release.",
        evidence="torch/version.py against the library's own rule for this compute capability.",
        fix="A newer toolkit of the same major, or a newer torch.",
    ),
    "arch-unknown": Explanation(
        cause="Neither the profile nor NVML says which compute capability the GPUs have.",
        evidence="cuda.arch and gpus.capability are absent and NVML did not answer.",
        fix='gpus: {capability: "12.0"} in the profile.',
    ),
    "target-unread": Explanation(
        cause="The target is not named or not here, so its packages could not be read.",
        evidence="No site-packages could be listed.",
        fix="--target, on the machine that serves.",
    ),
    "no-target": Explanation(
        cause="The server's Python is never guessed silently: a profile, --target or GPULAUNCH_TARGET names it.",
        evidence="None of them does, and no active virtual environment holds the engine.",
        fix="--target /path/to/venv",
    ),
    "target-missing": Explanation(
        cause="The named target is not there.",
        evidence="Its python does not exist.",
        fix="Correct the path.",
        exit_code=errors.NOT_FOUND,
    ),
    "target-not-executable": Explanation(
        cause="The named target is there but cannot be run by this user.",
        evidence="access(2) says no.",
        fix="Correct the mode, or run as the user that owns it.",
        exit_code=errors.NOT_EXECUTABLE,
    ),
    "target-unreadable": Explanation(
        cause="The target's packages cannot be read by this user.",
        evidence="Listing site-packages was refused.",
        fix="Correct the mode, or run as the user that owns it.",
        exit_code=errors.NO_PERMISSION,
    ),
    "target-from-shell": Explanation(
        cause="The target was taken from the caller's shell, which a service and another node do not have.",
        evidence="VIRTUAL_ENV, CONDA_PREFIX or the interpreter that runs gpulaunch.",
        fix="Name it in the profile or with --target.",
    ),
    "engine-not-installed": Explanation(
        cause="The target does not hold the engine.",
        evidence="No metadata of its distribution in site-packages.",
        fix="Install it there, or name the right target.",
    ),
    "serving-extra-missing": Explanation(
        cause="pip install transformers alone brings no web server: its extra `serving` does.",
        evidence="The target's packages, beside what transformers' own server imports.",
        fix="Install transformers[serving] there.",
    ),
    "model-on-demand": Explanation(
        cause="Started without a model, transformers answers /health at once and loads a model at the first request.",
        evidence="The profile names no model.",
        fix="Name it, so that ready means that the model is loaded.",
    ),
    "requirement-unmet": Explanation(
        cause="The profile was written for other versions.",
        evidence="The package metadata in the target.",
        fix="Install a version in the range, or check the profile against this version and widen it.",
    ),
    "requirement-unknown": Explanation(
        cause="The target's packages could not be read.",
        evidence="No site-packages could be listed.",
        fix="Run it where the target is.",
    ),
    "gpus-unknown": Explanation(
        cause="The profile asserts GPUs, and the driver did not answer.",
        evidence="NVML could not be loaded or refused.",
        fix="Load the driver; in a container pass the GPUs in.",
        exit_code=errors.UNAVAILABLE,
    ),
    "too-few-gpus": Explanation(
        cause="Fewer GPUs can be used than the profile asserts.",
        evidence="NVML, less what CUDA_VISIBLE_DEVICES hides.",
        fix="Free or repair GPUs, or change gpus.count with the parallel sizes.",
        exit_code=errors.UNAVAILABLE,
    ),
    "another-capability": Explanation(
        cause="The profile was written for other GPUs.",
        evidence="NVML's compute capability.",
        fix="Choose other GPUs or change the profile.",
        exit_code=errors.UNAVAILABLE,
    ),
    "gpu-not-here": Explanation(
        cause="gpus.select names a GPU that is not here.",
        evidence="NVML's list.",
        fix="nvidia-smi -L lists them.",
        exit_code=errors.UNAVAILABLE,
    ),
    "gpus-chosen-twice": Explanation(
        cause="Two places choose the GPUs, and either would be wrong half the time.",
        evidence="gpus.select in the profile and CUDA_VISIBLE_DEVICES of the caller.",
        fix="Keep one of them.",
    ),
    "arch-contradiction": Explanation(
        cause="cuda.arch would compile for other GPUs than those here.",
        evidence="NVML's compute capability.",
        fix="Leave cuda.arch out.",
    ),
    "model-unchecked": Explanation(
        cause="Models on a hub may be gated, absent or cached; gpulaunch asks no hub before the start.",
        evidence="The name has the form of a hub's.",
        fix="Nothing; a gated model needs HF_TOKEN.",
    ),
    "port-invalid": Explanation(
        cause="The port option is no number from 1 to 65535; 0 would let the system choose one that nobody knows.",
        evidence="The final argv, flags after -- included.",
        fix="args: {port: 8000}",
    ),
    "open-door": Explanation(
        cause="Everybody who reaches this machine can use the server.",
        evidence="The host option and no API key.",
        fix="Bind loopback, or set a key.",
    ),
    "build-tool-missing": Explanation(
        cause="A library of the target compiles kernels while serving and calls this program, which is not there.",
        evidence="gpulaunch looked in every folder of the server's PATH: the target's bin, env.path, the system's.",
        fix="Install it; ninja belongs into the target itself.",
    ),
    "python-header-missing": Explanation(
        cause="Triton builds a small module against Python.h at the first kernel, after the weights are loaded.",
        evidence="No include/pythonX.Y/Python.h beside the target's interpreter or the one it is made from.",
        fix="The interpreter's development package (python3-dev).",
    ),
    "driver-too-old": Explanation(
        cause="CUDA code runs on drivers from a certain version on, by its major release: 12.x from 525.60.13, 13.x "
        "from 580.",
        evidence="The driver's version from NVML or /proc/driver/nvidia/version, and torch/version.py.",
        fix="A newer driver, or a torch for the older CUDA.",
        exit_code=errors.UNAVAILABLE,
    ),
    "assembler-too-old": Explanation(
        cause="Triton's own assembler is older than the GPU, and the chosen toolkit's does not know it either.",
        evidence="The releases of both, and the first release that knows this compute capability.",
        fix="A newer Triton, which comes with a newer torch; or a newer toolkit.",
    ),
    "feature-off": Explanation(
        cause="An engine turns an optional part off where the environment lacks what it asks for.",
        evidence="The engine's own question, answered for the planned environment.",
        fix="What the finding says; nothing, if the part is not missed.",
    ),
    "toolkit-part-missing": Explanation(
        cause="A library calls a program of the toolkit on some paths only, and this toolkit does not hold it.",
        evidence="The toolkit's bin.",
        fix="Nothing until that path is taken; NVIDIA's own installer brings every part.",
    ),
    "system-libraries-first": Explanation(
        cause="TransformerEngine searches /usr/local/cuda before the target's wheels, and no variable prevents it.",
        evidence="The release of the toolkit there against torch's.",
        fix="Another toolkit at /usr/local/cuda, or none.",
    ),
    "second-nccl": Explanation(
        cause="A variable names another NCCL than the one in the target's wheels.",
        evidence="env.set of the profile.",
        fix="One NCCL: the wheel's.",
    ),
    "torch-without-gpu": Explanation(
        cause="torch's own kernels were built by a CUDA release that does not know these GPUs: the server would end "
        'with "no kernel image is available for execution on the device".',
        evidence="torch/version.py against the first release that knows the compute capability.",
        fix="A torch built for a newer CUDA (or, for cards older than 7.5, for CUDA 12).",
    ),
    "proxy-malformed": Explanation(
        cause="A proxy variable is no URL; the engine's own HTTP client raises on it while it starts.",
        evidence="The variable's form. Its value is not shown: it may hold a password.",
        fix="http://host:port, or start without it.",
    ),
    "mixed-capabilities": Explanation(
        cause="The server will use GPUs of several compute capabilities: kernels are built for each, and some modules "
        "are known to be built for the first alone.",
        evidence="NVML's compute capability of the GPUs that are used.",
        fix="gpus: {select: [...]} with GPUs of one kind.",
    ),
    "could-not-tell": Explanation(
        cause="A fact about this machine was not established; it is not taken for a no.",
        evidence="The message says what was tried.",
        fix="Nothing, unless the plan depends on it.",
    ),
    "false-left-out": Explanation(
        cause="The engine has no explicit no for this option.",
        evidence="args says false.",
        fix="Nothing, unless the option is on by default.",
    ),
    "value-replaced": Explanation(
        cause="Two layers of the environment name different values for one variable; the later one counts.",
        evidence="The message shows both.",
        fix="Remove the one that should not be there.",
    ),
    "repair-overridden": Explanation(
        cause="The profile or the operator overrides a repair.",
        evidence="The message shows both values.",
        fix="Leave the variable out, unless it is meant.",
    ),
    "library-path-filtered": Explanation(
        cause="LD_LIBRARY_PATH beats the RUNPATH of the nvidia wheels, so a toolkit there mixes two releases.",
        evidence="Entries inside a toolkit, compat or stubs folders.",
        fix="Nothing; --keep-env LD_LIBRARY_PATH keeps all of it.",
    ),
    "keep-env-unset": Explanation(
        cause="--keep-env names a variable that the caller does not have.",
        evidence="It is not in the environment.",
        fix="Export it (a shell variable that is not exported reaches nobody: flashinfer-ai/flashinfer#3078).",
    ),
    "reserved-variable-asked": Explanation(
        cause="PATH, CUDA_HOME, CUDA_PATH and CUDA_LIB_PATH must agree, so the plan alone sets them.",
        evidence="The command line names one of them.",
        fix="Use cuda.toolkit or env.path in the profile.",
        exit_code=errors.USAGE,
    ),
    "empty-value": Explanation(
        cause="Unset is not empty: libraries read an empty list or path as a broken one.",
        evidence="The command line gives an empty value.",
        fix="Leave it out.",
        exit_code=errors.USAGE,
    ),
    "no-usable-home": Explanation(
        cause="A service may have no HOME, or one that is / or not writable; caches then go to /.cache or fail.",
        evidence="HOME and the password database.",
        fix="StateDirectory= in the unit, or HOME.",
    ),
}
