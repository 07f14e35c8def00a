"""A copilot from draft to answer: publishing, live versions, callers, providers and images.

In come drafts that people saved, slugs and keys; out go immutable versions and what can answer for
them. Doors: `live`, `callers`, `publishing`, `drafts`, `standing`, `cards`, `providers`,
`switched_providers`, `remote_images`, `uploaded_images`, all of `fields`, and `checks`, the system
checks, for `apps`.
"""
