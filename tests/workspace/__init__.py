"""A stand-in for OpenBB Workspace: reads streams by its rules, and goes through the legs of a turn."""
