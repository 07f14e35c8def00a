"""API keys, users and roles."""
