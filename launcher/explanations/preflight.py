"""Codes of findings made in the last moment before a start, when the machine is asked once more."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "gpu-held": Explanation(
        cause="Other processes hold so much memory of a GPU that the server could not take what it asks for; it would "
        "say so after loading for minutes, or end out of memory.",
        evidence="NVML's free memory and its list of processes, against --gpu-memory-utilization or "
        "--mem-fraction-static where the command line has them.",
        fix="Stop the process that is named, choose another GPU with gpus.select, or ask for less.",
        exit_code=errors.TRY_AGAIN,
    ),
    "gpu-shared": Explanation(
        cause="Another process holds memory of a GPU that the server will use; how much the server needs is not known.",
        evidence="NVML's list of processes, from 1 GiB on.",
        fix="Nothing if that is meant; else stop the process, or choose another GPU with gpus.select.",
    ),
    "gpus-not-asked": Explanation(
        cause="Who holds the GPUs' memory could not be told.",
        evidence="NVML gave an error, or no answer in time.",
        fix="nvidia-smi shows whether the driver answers at all.",
    ),
    "nvidia-uvm-missing": Explanation(
        cause="CUDA needs /dev/nvidia-uvm. The module is loaded on demand, and at boot a service may be faster "
        "(ollama/ollama#14895): the server would find no GPU, or take the CPU without a word.",
        evidence="The device is not there, while the driver is; and nvidia-modprobe, which would make it, is not.",
        fix="modprobe nvidia-uvm, also in /etc/modules-load.d; gpus: {wait: 60s} waits for it.",
        exit_code=errors.UNAVAILABLE,
    ),
    "driver-mismatch": Explanation(
        cause="The driver was updated and the old kernel module is still loaded, or the container's libraries belong "
        "to another driver than the host's: nothing that uses the GPU works.",
        evidence="NVML's own word, or the version in the library's file name against /proc/driver/nvidia/version.",
        fix="Reboot, or reload the nvidia modules; in a container start it anew.",
        exit_code=errors.UNAVAILABLE,
    ),
    "model-missing": Explanation(
        cause="The model is named by a path, and nothing is there.",
        evidence="stat(2) on the path, from the server's working folder.",
        fix="Correct model or the option in args; a mount may be missing.",
    ),
    "model-unreadable": Explanation(
        cause="The user that runs the server may not enter a folder on the way to the model, or not read its files "
        "(ollama/ollama#2701). In a unit ProtectHome= hides home folders.",
        evidence="access(2) on every folder of the path, and on the files in the last one.",
        fix="Let that user traverse the folders and read the files, or move the model.",
        exit_code=errors.NO_PERMISSION,
    ),
    "shm-full": Explanation(
        cause="/dev/shm has no room: NCCL and the engines' workers talk to each other through files there, and each "
        "crash may leave some behind (llm-d/llm-d#352).",
        evidence="statvfs(3) on /dev/shm.",
        fix="gpulaunch clean removes what is provably left by its runs; else a larger tmpfs.",
        exit_code=errors.TRY_AGAIN,
    ),
    "shm-small": Explanation(
        cause="/dev/shm is small, as in a container with the default of 64 MiB; several GPUs need more.",
        evidence="statvfs(3) on /dev/shm.",
        fix="docker run --ipc=host or --shm-size=16g; in Kubernetes an emptyDir of medium Memory at /dev/shm.",
    ),
    "nofile-low": Explanation(
        cause="Few files may be open at once: vLLM and SGLang want 65535, a socket for each request.",
        evidence="The hard limit, up to which gpulaunch raises the soft one.",
        fix="LimitNOFILE=1048576 in the unit, --ulimit nofile=1048576 for a container, /etc/security/limits.conf.",
    ),
    "memlock-low": Explanation(
        cause="Little memory may be locked, and the server wants to: for InfiniBand, or by --mlock.",
        evidence="The hard limit of RLIMIT_MEMLOCK.",
        fix="LimitMEMLOCK=infinity in the unit, --ulimit memlock=-1 for a container.",
    ),
    "instance-running": Explanation(
        cause="An instance of this name runs already, or is starting: one at a time.",
        evidence="It holds a lock in the folder for locks, which the kernel takes away when its process ends.",
        fix="--replace stops it and starts this one in its place; --name NAME starts another one beside it.",
        exit_code=errors.TRY_AGAIN,
    ),
    "gpu-claimed": Explanation(
        cause="Another launch has taken a GPU that this one wants too, even if it has not allocated anything yet.",
        evidence="It holds the GPU's lock in the folder for locks.",
        fix="Wait for it, stop it, or choose other GPUs with gpus.select.",
        exit_code=errors.TRY_AGAIN,
    ),
    "port-claimed": Explanation(
        cause="Another launch has taken the port, even if its server does not listen yet.",
        evidence="It holds the port's lock in the folder for locks.",
        fix="Choose another port, or stop the other one.",
        exit_code=errors.TRY_AGAIN,
    ),
    "locks-unwritable": Explanation(
        cause="The folder for locks cannot be written: two launches of one instance would not see each other.",
        evidence="mkdir(2) or open(2) was refused.",
        fix="XDG_RUNTIME_DIR, or RuntimeDirectory=gpulaunch in a unit that runs as root.",
    ),
    "not-replaced": Explanation(
        cause="The instance that --replace should stop did not end, or is none that this user may stop.",
        evidence="It still holds its lock.",
        fix="Stop it by hand: gpulaunch stop NAME, as its user.",
        exit_code=errors.TRY_AGAIN,
    ),
    "leftover": Explanation(
        cause="Something of an earlier run is still there though its supervisor is gone: processes that hold ports "
        "and GPU memory (vllm-project/vllm-omni#2317), or segments in /dev/shm.",
        evidence="The run's folder with pids and start times, the run's mark in a resource limit or in the "
        "environment, and the segments that the run's processes were seen to map.",
        fix="gpulaunch clean ends and removes what is provably ours, and says of the rest why it is not.",
    ),
}
