"""The allow-list: what of the caller's environment reaches the child without being asked for. Data and one question.

An allow-list, not a deny-list: a deny-list always misses the variable that hurts.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

# name or glob -> why it may pass
ALLOWED: dict[str, str] = {
    "HOME": "identity",
    "USER": "identity",
    "LOGNAME": "identity",
    "SHELL": "identity",
    "LANG": "locale",
    "LC_*": "locale",
    "TZ": "time zone",
    "TERM": "terminal",
    "NO_COLOR": "terminal",
    "TMPDIR": "temporary files",
    "XDG_*": "the caller's folders",
    "SSL_CERT_*": "TLS certificates",
    "REQUESTS_CA_BUNDLE": "TLS certificates",
    "HTTP_PROXY": "proxy",
    "HTTPS_PROXY": "proxy",
    "ALL_PROXY": "proxy",
    "NO_PROXY": "proxy",
    "http_proxy": "proxy",
    "https_proxy": "proxy",
    "all_proxy": "proxy",
    "no_proxy": "proxy",
    "HF_TOKEN": "model hub",
    "HF_TOKEN_PATH": "model hub",
    "HF_HOME": "model hub",
    "HF_HUB_*": "model hub",
    "HF_XET_*": "model hub",
    "HF_ENDPOINT": "model hub",
    "HUGGING_FACE_HUB_TOKEN": "model hub",
    "CUDA_VISIBLE_DEVICES": "the GPUs that the caller was given",
    "NVIDIA_VISIBLE_DEVICES": "the GPUs that the container was given",
    "NVIDIA_DRIVER_CAPABILITIES": "the driver parts that the container was given",
}

# Variables that an engine or a library reads: dropped with a line that says how to keep them.
READ_BY_ENGINES = (
    "NCCL_*", "VLLM_*", "SGLANG_*", "SGL_*", "OMP_*", "MKL_*", "GLOO_*", "UCX_*", "NVSHMEM_*", "TORCH_*",
    "TORCHINDUCTOR_*", "PYTORCH_*", "CUDA_*", "CUBLAS_*", "CUDNN_*", "TRITON_*", "FLASHINFER_*", "DG_*", "LLAMA_*",
    "GGML_*", "HF_*", "TRANSFORMERS_*", "TOKENIZERS_*", "RAY_*", "MAX_JOBS", "LD_PRELOAD", "LD_LIBRARY_PATH", "CC",
    "CXX", "CUDAHOSTCXX", "CPATH", "NVCC_*", "LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME",
)  # fmt: skip

# name or glob -> why it must not pass by itself, where "not on the allow-list" would say too little
KNOWN_TROUBLE: dict[str, str] = {
    "PYTHONPATH": "it would put foreign packages before the target's",
    "PYTHONHOME": "it would give the target another standard library",
    "LD_PRELOAD": "only a profile may load a library into every process",
    "TORCH_CUDA_ARCH_LIST": "a leftover of an image build claims other GPUs than these (flashinfer-ai/flashinfer#1115)",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable segments break the engines' memory savers",
    "PYTORCH_ALLOC_CONF": "expandable segments break the engines' memory savers",
    "CPATH": "old CUDA headers there come before the toolkit's",
    "C_INCLUDE_PATH": "headers of another toolkit may lie there",
    "CPLUS_INCLUDE_PATH": "headers of another toolkit may lie there",
    "LIBRARY_PATH": "libraries of another toolkit may lie there",
    "NVCC_*": "conda's activation and image builds leave flags there that every nvcc would take up",
    "CUDACXX": "it names another nvcc than the chosen one",
    "CUDAHOSTCXX": "builds use the system's compiler, unless nvcc refuses it",
    "CC": "builds use the system's compiler, unless nvcc refuses it",
    "CXX": "builds use the system's compiler, unless nvcc refuses it",
    "CFLAGS": "flags of another build",
    "CXXFLAGS": "flags of another build",
    "LDFLAGS": "flags of another build",
    "MAX_JOBS": "it is computed from CPUs and memory",
    "NOTIFY_SOCKET": "it is ours: gpulaunch tells systemd when the server is ready",
    "LISTEN_*": "sockets of a unit are not the server's",
    "WATCHDOG_*": "it is ours",
    "TRITON_PTXAS_*": "Triton's own assembler is used",
}


def reason(name: str, table: dict[str, str]) -> str | None:
    """What a table says of a variable's name, exact names before globs."""
    if name in table:
        return table[name]
    return next((why for pattern, why in table.items() if fnmatchcase(name, pattern)), None)


def is_read_by_engines(name: str) -> bool:
    """True for a variable whose absence the operator may notice."""
    return any(fnmatchcase(name, pattern) for pattern in READ_BY_ENGINES)


def is_service_link(name: str, value: str) -> bool:
    """True for what Kubernetes injects for each service: VLLM_PORT=tcp://... (vllm-project/vllm#34199)."""
    return value.startswith(("tcp://", "udp://")) or name.endswith(("_SERVICE_HOST", "_SERVICE_PORT"))
