"""Distributions that look for a CUDA toolkit and are no consumer of ours: what they will find could not be told.

Said in `gpulaunch doctor`, so that silence is never taken for "all is well". Pure data; a package that becomes a
consumer may stay here, it is left out by its name.
"""

from __future__ import annotations

# cuda-pathfinder prefers CUDA_PATH to CUDA_HOME, everybody else the other way round (cuda-pathfinder 1.9.1).
_PATHFINDER = "libraries and headers by cuda-pathfinder: wheels, conda, then CUDA_PATH before CUDA_HOME"

_WHEN_BUILT = "torch's CUDA_HOME, when it is built from source"

STRANGERS: dict[str, str] = {
    "apex": _WHEN_BUILT,
    "bitsandbytes": "libcudart in LD_LIBRARY_PATH and CONDA_PREFIX, by BNB_CUDA_VERSION or torch's release",
    "causal-conv1d": _WHEN_BUILT,
    "ctranslate2": "libcublas and libcudnn in LD_LIBRARY_PATH and the loader's cache",
    "cuda-bindings": _PATHFINDER,
    "cuda-core": _PATHFINDER,
    "cuda-python": _PATHFINDER,
    "cupy": "CUDA_PATH, then nvcc on PATH, then /usr/local/cuda",
    "cupy-cuda12x": "CUDA_PATH, then nvcc on PATH, then /usr/local/cuda",
    "cupy-cuda13x": f"NVRTC's own folder; {_PATHFINDER}",
    "deepspeed": "torch's CUDA_HOME, with a version check of its own, whenever it builds an operator",
    "exllamav2": "torch's CUDA_HOME, where it compiles its extension at import",
    "flash-attn": _WHEN_BUILT,
    "mamba-ssm": _WHEN_BUILT,
    "numba": "conda, CUDA_HOME, /usr/local/cuda, for NVVM",
    "numba-cuda": "conda, wheels, CUDA_HOME, /usr/local/cuda, for NVVM and NVRTC",
    "nvmath-python": _PATHFINDER,
    "onnxruntime-gpu": "libcudart, libcublas and libcudnn in LD_LIBRARY_PATH and the loader's cache",
    "pycuda": "nvcc on PATH, whenever a kernel is compiled",
    "xformers": _WHEN_BUILT,
}
