"""A copilot from draft to answer: publishing, live versions, callers, providers and images.

In come drafts that people saved, slugs and keys; out go immutable versions and what can answer for
them. Doors: `live`, `callers`, `publishing`, `drafts`, `standing`, `providers`, `checks`.
"""
