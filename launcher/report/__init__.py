"""Plan, findings and outcome as text and JSON; secrets are masked here."""
