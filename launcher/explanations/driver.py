"""Codes of findings about the driver's library and what the loader finds."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "libcuda-older-than-driver": Explanation(
        cause="libcuda.so.1 belongs to the kernel's driver and must be of its version. A toolkit's compat folder holds "
        "another one, meant for drivers older than itself; in an image's ld.so.conf it comes before the host's.",
        evidence="The loader's order: LD_LIBRARY_PATH as the server gets it, then `ldconfig -p`. The version stands in "
        "the name behind the links; the driver's comes from NVML or /proc/driver/nvidia/version.",
        fix="Take the compat folder out of the loader's configuration, or put the driver's folder before it.",
        exit_code=errors.UNAVAILABLE,
    ),
    "libcuda-missing": Explanation(
        cause="Nothing that uses the GPU starts without libcuda.so.1.",
        evidence="It is in none of the folders of the server's LD_LIBRARY_PATH, not in `ldconfig -p` and in none of "
        "the usual folders, while NVML lists GPUs.",
        fix="ldconfig; in a container the runtime mounts it where NVIDIA_DRIVER_CAPABILITIES has compute.",
        exit_code=errors.UNAVAILABLE,
    ),
    "libcuda-not-cached": Explanation(
        cause="The driver's library lies in a folder that the loader's cache does not list, as after an installation "
        "without ldconfig.",
        evidence="`ldconfig -p` does not name libcuda.so.1. Triton goes by that list, or by TRITON_LIBCUDA_PATH.",
        fix="sudo ldconfig",
    ),
    "cudnn-of-two-builds": Explanation(
        cause="cuDNN is a shim and some parts that it loads by name; a part that is missing beside it is taken from "
        "wherever the loader finds one, of another build.",
        evidence="The names in the target's nvidia wheels against those in `ldconfig -p`.",
        fix="Install the wheel again, or remove the system's cuDNN.",
    ),
}
