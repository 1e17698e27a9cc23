"""What must exist before exec: one file per action; idempotent, atomic, private."""
