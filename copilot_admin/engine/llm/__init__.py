"""Asking a model: the request, its stream, deadlines, retries, and tools written as text.

In comes a `ModelCall`; out come deltas, whatever the provider. Doors: `model_stream`, `choosing`,
`retries`, `ticker`.
"""
