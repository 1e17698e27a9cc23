"""gpulaunch turns a YAML serving profile into a running inference server whose environment can be explained."""

__version__ = "0.1.0"
