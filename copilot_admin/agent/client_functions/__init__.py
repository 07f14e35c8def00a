"""Functions that Workspace carries out for a copilot."""
