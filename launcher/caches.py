"""Every variable that says where a library keeps what it compiled while serving: one table. Pure data.

A cache whose own key does not cover the toolkit hands code of one toolkit to a process with another one
(flashinfer-ai/flashinfer#3229, #5145). A variable that is missing here leaves its cache in the home folder: on shared
storage, or lost with a container (sgl-project/sglang#29170).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Cache:
    """One cache. `owners` are the distributions that read the variable, `folder` its place below a root of ours.

    `covers_toolkit`: its own key changes with the compiler, so that servers with different toolkits may share it.
    """

    variable: str
    owners: tuple[str, ...]
    folder: str
    covers_toolkit: bool
    because: str


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What lies in one folder of caches below ours. `last_used` in seconds since 1970; `used_by`: by whom right now."""

    name: str
    path: str
    bytes: int
    files: int
    modules: int  # of FlashInfer's, built
    last_used: float
    used_by: tuple[str, ...] = ()


SHARED = "shared"  # below it lie the caches that all toolchains may use

_DEEP_GEMM = "nvcc's release is in the key of DeepGEMM's open sources (csrc/jit); of later builds only a binary exists"

CACHES: tuple[Cache, ...] = (
    Cache(
        variable="FLASHINFER_WORKSPACE_BASE",
        owners=("flashinfer-python",),
        folder="flashinfer",
        covers_toolkit=False,
        because="keyed by FlashInfer's version and architectures alone; up to 0.6.11 a build keeps its first compiler",
    ),
    Cache(
        variable="TVM_FFI_CACHE_DIR",
        owners=("apache-tvm-ffi",),
        folder="tvm-ffi",
        covers_toolkit=False,
        because="keyed by sources and flags alone (tvm-ffi 0.1.11, cpp/extension.py)",
    ),
    Cache(
        variable="TORCH_EXTENSIONS_DIR",
        owners=("torch",),
        folder="torch-extensions",
        covers_toolkit=False,
        because="keyed by name; once the variable is set, not even by Python and torch's CUDA (cpp_extension.py)",
    ),
    Cache(
        variable="TORCHINDUCTOR_CACHE_DIR",
        owners=("torch",),
        folder="inductor",
        covers_toolkit=False,
        because="an artefact of another release can end every start alike (ls1intum/edutelligence#579)",
    ),
    Cache(
        variable="VLLM_CACHE_ROOT",
        owners=("vllm",),
        folder="vllm",
        covers_toolkit=False,
        because="compiled graphs of another release can end every start alike (vllm-project/vllm#52154)",
    ),
    Cache(
        variable="SGLANG_CACHE_DIR",
        owners=("sglang",),
        folder="sglang",
        covers_toolkit=False,
        because="holds what was tuned for one FlashInfer (sglang 0.5.23, flashinfer_autotune.py)",
    ),
    Cache(
        variable="SGLANG_JIT_CACHE_DIR",
        owners=("sglang",),
        folder="sglang-jit",
        covers_toolkit=True,
        because="the build's key holds the toolchain (sglang 0.5.23, kernels/jit/utils/compile/cache.py)",
    ),
    Cache(
        variable="SGLANG_DG_CACHE_DIR",
        owners=("sglang",),
        folder="deep-gemm",
        covers_toolkit=False,
        because=f"sglang overwrites DG_JIT_CACHE_DIR from this one; {_DEEP_GEMM}",
    ),
    Cache(
        variable="DG_JIT_CACHE_DIR",
        owners=("deep-gemm", "sgl-deep-gemm", "vllm"),
        folder="deep-gemm",
        covers_toolkit=False,
        because=_DEEP_GEMM,
    ),
    Cache(
        variable="TILELANG_CACHE_DIR",
        owners=("tilelang",),
        folder="tilelang",
        covers_toolkit=False,
        because="keyed by tilelang's version, function and flags alone (tilelang 0.1.12, cache/kernel_cache.py)",
    ),
    Cache(
        variable="HUMMING_CACHE_DIR",
        owners=("humming-kernels",),
        folder="humming",
        covers_toolkit=False,
        because="whether its key holds the compiler could not be told (humming 0.1.19, utils/jit.py)",
    ),
    Cache(
        variable="MINFER_FMHA_CACHE_DIR",
        owners=("vllm",),
        folder="minfer-fmha",
        covers_toolkit=False,
        because="goes by the toolkit's version.json, which wheels do not have (vllm 0.33, third_party/fmha_sm100)",
    ),
    Cache(
        variable="TRITON_CACHE_DIR",
        owners=("triton",),
        folder="triton",
        covers_toolkit=True,
        because="the key holds what ptxas says of itself (triton 3.6.0 to 3.8.0)",
    ),
    Cache(
        variable="CUTE_DSL_CACHE_DIR",
        owners=("nvidia-cutlass-dsl",),
        folder="cute-dsl",
        covers_toolkit=True,
        because="it brings its own compiler, and the key holds its version (CUTLASS DSL 4.8)",
    ),
    Cache(
        variable="QUACK_CACHE_DIR",
        owners=("quack-kernels",),
        folder="quack",
        covers_toolkit=True,
        because="compiled by CUTLASS DSL, whose version is in the key",
    ),
    Cache(
        variable="FLASH_ATTENTION_CUTE_DSL_CACHE_DIR",
        owners=("flash-attn-4", "vllm"),
        folder="flash-attention-cute",
        covers_toolkit=True,
        because="compiled by CUTLASS DSL, whose version is in the key (vllm 0.33, vllm_flash_attn/cute/cache_utils.py)",
    ),
    Cache(
        variable="CUDA_CACHE_PATH",
        owners=("torch",),
        folder="driver",
        covers_toolkit=True,
        because="the driver's own compilations, keyed by the driver",
    ),
)

# Names that nobody reads, though documents and scripts still set them -> the name that is read, and the source.
DEAD: dict[str, tuple[str, str]] = {
    "FLASHINFER_JIT_DIR": ("FLASHINFER_WORKSPACE_BASE", "NVIDIA/TensorRT-LLM#17810"),
    "FLASHINFER_CACHE_DIR": ("FLASHINFER_WORKSPACE_BASE", "flashinfer-ai/flashinfer#4705"),
    "FLASHINFER_WORKSPACE": ("FLASHINFER_WORKSPACE_BASE", "vllm-project/vllm#30616"),
    "DG_CACHE_DIR": ("DG_JIT_CACHE_DIR", "DeepGEMM before its rewrite, deepseek-ai/DeepGEMM#112"),
}

# sglang writes the first from the second when it imports DeepGEMM, whatever the environment says (0.5.14 to 0.5.23).
OVERWRITTEN = {"DG_JIT_CACHE_DIR": "SGLANG_DG_CACHE_DIR"}

VARIABLES = tuple(cache.variable for cache in CACHES)
