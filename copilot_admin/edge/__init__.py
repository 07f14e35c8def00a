"""What stands between the socket and a view: limits, origins, headers, ids, start and stop.

In come ASGI messages; out come the same within their limits, or an answer that says what is wrong.
`asgi` stacks the middleware of this room, `settings` lists `pages_middleware`, `urls` names
`error_pages`; what is done at start and stop is in `server`. Doors: `ids`, `request_ids`,
`event_streams`, `form_bodies`, `asgi_types`.
"""
