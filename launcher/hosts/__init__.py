"""Where and how a plan is carried out."""
