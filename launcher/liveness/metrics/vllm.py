"""vLLM's (`vllm/v1/metrics/loggers.py`, 0.33.0). The engine's own steps move them: one that hangs moves none.

Tokens are counted with every step, not when a request ends.
"""

BUSY = ("vllm:num_requests_running", "vllm:num_requests_waiting")
MOVING = ("vllm:generation_tokens_total", "vllm:prompt_tokens_total", "vllm:request_success_total")
TURNED_ON_BY = ""
