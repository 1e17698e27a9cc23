"""Why a server ended: known failure texts in its output, the kernel's word, and what follows for a restart.

`signatures.yaml` is the data, `recognising` watches the output, `evidence/` looks at the kernel's counters and log,
`concluding` makes one cause, one fix and one class of it all.

    inquiry = Inquiry(cgroup)                   # before spawn
    inquiry.recogniser.feed(text)               # whole plain lines, from the capture's thread
    inquiry.recogniser.survived()               # on READY: what was said so far did no harm
    inquiry.recogniser.dead                     # said to be dead, though it may live: end it (vllm-project/vllm#54553)
    inquiry.conclude(End(...), plan, pids)      # Conclusion(cause, fix, failure), can_heal, poisoned
"""
