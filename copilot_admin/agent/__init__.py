"""Answers one query: copilot version and question in, protocol events out; without Django."""
