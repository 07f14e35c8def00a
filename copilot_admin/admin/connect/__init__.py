"""Connect page of a copilot: URL, key, allowed origins, and a test of the connection."""
