"""A server that behaves as badly as real engines do, on request: standard library alone, for any Python 3.

`python -I -S FOLDER --port 8000 --worker --worker-ignores-term ...`; `--help` lists the bad habits, most of which were
seen in vLLM, SGLang and llama.cpp. It says nothing on its streams unless asked; what it does is steered by files, so
that nobody needs to guess how long it takes; and everything in it ends by itself after LIFETIME seconds, should
whoever started it lose sight of it.
"""

from __future__ import annotations

from pathlib import Path

PROGRAM = Path(__file__).parent  # for the interpreter's command line
LIFETIME = 600  # seconds
TICK = 0.02  # seconds between two looks at the files that steer it
BROKEN_DRAIN = 8  # exit code where a worker was taken away during a --drain
CUT_SHORT = 9  # exit code after a second SIGTERM during --drain
METRICS = {  # requests that run, requests that wait, tokens generated: vllm/v1/metrics, sglang/srt/observability
    "vllm": ("vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:generation_tokens_total"),
    "sglang": ("sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:generation_tokens_total"),
}
