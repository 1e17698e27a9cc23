"""Questions asked of a finished plan: one file each."""
