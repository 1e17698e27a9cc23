"""The command line: parse, tell the story, print, choose the exit code. Only here is anything printed."""
