"""llama.cpp's (`tools/server/server-context.cpp`). Its /metrics asks for the API key, where there is one."""

BUSY = ("llamacpp:requests_processing", "llamacpp:requests_deferred")
MOVING = ("llamacpp:tokens_predicted_total", "llamacpp:prompt_tokens_total", "llamacpp:n_decode_total")
TURNED_ON_BY = "--metrics"
