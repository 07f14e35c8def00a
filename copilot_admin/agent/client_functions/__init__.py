"""What Workspace can do for a copilot."""
