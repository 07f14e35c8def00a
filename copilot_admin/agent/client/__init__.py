"""What the client is asked for: data of widgets, limits, signed state, the workspace."""
