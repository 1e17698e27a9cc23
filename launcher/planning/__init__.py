"""Profile and Facts to a Plan: pure, the same input gives the same bytes everywhere."""
