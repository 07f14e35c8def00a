"""How Workspace is told of a copilot: address, key, origins, and a test of all of it.

Doors: `urls`.
"""
