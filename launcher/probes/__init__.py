"""Scripts that ask a library in the target what its own lookup finds: one file each, run by the target's interpreter.

They import nothing of ours but `answering`, which lies beside them, and run on every Python that a target may have.
"""
