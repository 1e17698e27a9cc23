"""The commands, one file each: a click command named `command` that returns the exit code; `launcher.cli.table` lists
them.
"""
