"""Carry out a plan and stay until the last process is gone."""
