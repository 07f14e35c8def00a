"""Endpoint keys, users and roles."""
