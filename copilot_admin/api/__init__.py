"""The HTTP interface: thin routers over the rooms below, and its OpenAPI document.

Doors: `app` and `health`, for `urls`; `questions`, for `asgi`.
"""
