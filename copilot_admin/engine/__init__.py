"""Answers one query: copilot version and question in, protocol events out.

No Django, no database: settings, secrets and memory arrive as arguments. Doors: `answer`, `values`,
and the registries of what can be added (`providers`, `tools`, `components`, `documents`).
"""
