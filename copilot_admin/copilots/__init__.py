"""A copilot from draft to answer: publishing, live versions, callers, providers and images.

In come drafts that people saved, slugs and keys; out go immutable versions and what can answer for
them. Doors: `live`, `door`, `checked_tokens`, `users`, `user_words`, `callers`, `trial_passes`, `publishing`, `drafts`, `at_once`, `standing`, `archive`, `locking`,
`tags`, `slugs`, `romanized`, `cards`, `providers`, `sealed_columns`, `switched_providers`, `model_lists`, `remote_images`, `uploaded_images`, `data_fit`, all of
`fields` and `questions`, `checklist` with what is found before publishing, and `checks`, the system
checks, for `apps`.
"""
