"""Answers one query: from copilot version and question to protocol events; without Django."""
