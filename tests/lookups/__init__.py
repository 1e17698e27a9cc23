"""Predictions against the libraries' own functions, over many environments: the `lookups` stage."""
