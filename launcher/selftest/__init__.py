"""Do signals, cgroups, logs and GPU queries work on this machine? Tried for real, with a server that behaves badly."""
