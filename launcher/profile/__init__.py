"""What was asked: YAML text to a validated, frozen Profile, or every error at once with file and line."""
