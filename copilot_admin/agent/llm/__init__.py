"""Asking a model: the request, its stream, deadlines, retries, and tools written as text.

In comes a `ModelCall`; out come deltas, whatever the provider. Doors: `model_stream`, `choosing`,
`endings`, `options`, `parameters`, `retries`, `suggestions`, `ticker`; `text_tools` for the registry
of providers, and what each kind of provider is made of: `chat_request`, `chat_chunks`, `data_lines`,
`foreign_answers`, `listed_models`, `provider_bodies`, `provider_faults`,
`provider_sessions`, and `rehearsal_script`.
"""
