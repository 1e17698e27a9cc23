"""The command line: parse, tell the story, print, choose the exit code. Only here is anything printed.

`table` lists the commands, `commands/` holds one file each, `story` the path from a profile to a running server that
they share, `entry` the one place where every failure ends.
"""
