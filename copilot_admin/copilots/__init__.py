"""Copilots from draft to published version: providers, callers, users, checks and images."""
