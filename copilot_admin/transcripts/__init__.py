"""Stored conversations: recording, matching, queries, search, filters and exports."""
