"""SGLang's (`sglang/srt/metrics/collector.py`, 0.5.10 and later).

Its `generation_tokens_total` counts a request's tokens when the request ends, which may take longer than any bound; the
scheduler's own numbers move while it decodes. An idle scheduler reports 0 running requests within 30 s.
"""

BUSY = ("sglang:num_running_reqs", "sglang:num_queue_reqs")
MOVING = (
    "sglang:generation_tokens_total",
    "sglang:prompt_tokens_total",
    "sglang:realtime_tokens_total",
    "sglang:gen_throughput",
    "sglang:num_used_tokens",
)
TURNED_ON_BY = "--enable-metrics"
