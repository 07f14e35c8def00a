"""Connection test: the steps of Workspace when an agent is added, repeated from this server."""
