"""What Workspace does when an agent is added, repeated step by step from this server."""
