"""Why a server ended: known failure texts in its output, the kernel's word, and what follows for a restart.

`signatures.yaml` is the data, `recognising` watches the output, `evidence/` looks at the kernel's counters and log,
`concluding` makes one cause, one fix and one class of it all.

    recogniser = Recogniser()                   # loads the signatures when it is first fed
    recogniser.feed(text)                       # whole plain lines, from the capture's thread
    recogniser.survived()                       # on READY: what was said so far did no harm
    recogniser.dead                             # said to be dead, though it may live: end it (R090)
    conclude(end, recogniser.first(), ...)      # Conclusion(cause, fix, failure)
"""
