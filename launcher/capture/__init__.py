"""The server's output: through pipes that never make it wait, masked, to one log per run and to our own streams.

Raw bytes are masked first (`masker`, `shapes`); what comes out is shown as it is (`terminal`) and made into plain lines
(`lines`: `pieces`, `plain`, `progress`, `repeats`), which are stamped (`records`) and written (`run_log`, `retention`)
in a thread of the log's own (`log_thread`).
"""
