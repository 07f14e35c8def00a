"""The schema."""
