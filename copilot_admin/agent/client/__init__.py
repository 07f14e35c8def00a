"""Requests to the client: data of widgets, limits, signed state, the workspace."""
