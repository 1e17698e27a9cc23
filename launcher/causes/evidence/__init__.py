"""Looks at what the kernel knows of an end: counters of its out-of-memory killer, and its log."""
