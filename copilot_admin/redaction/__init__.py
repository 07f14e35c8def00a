"""Removal of personal data from everything that is stored."""
