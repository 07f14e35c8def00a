"""Answers one query: copilot version and question in, protocol events out.

No Django, no database: settings, secrets and memory arrive as arguments. Doors: `answer`, `values`,
and the registries of what can be added (`providers`, `tools`, `components`, `documents`).

Lent besides: `server_tools` and `components` to those who call or show a component; `fetching` and `files` to what fetches or reads for a copilot; of `llm`
`choosing`, `options`, `parameters`, `endings`, `retries` and `ticker`; `prompt.placeholders`;
`client_functions.registry`; `client.extra_state`; `warning_events`; `beside` to what folds an
answer; `processes` to what searches for expressions of others.
"""
