"""Programs that run in a target, where gpulaunch need not be installed."""
