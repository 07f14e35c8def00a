"""What stands between the socket and a view: limits, origins, headers, ids, start and stop.

In come ASGI messages; out come the same within their limits, or an answer that says what is wrong.
What is done at start and stop is in `server`. Doors: `ids`, `request_ids`, `event_streams`,
`django_handler`, `form_bodies`, `asgi_types`, `guesses`, `put_off`, `networks`, `public_address`, `allowed_origins`, `proxy_users`, `heaps`; for `settings`
`pages_middleware`, for `urls` `error_pages`, for `apps` `path_ids`;
and what `asgi` stacks: `bodies`, `bounded_cookies`, `cors`, `header_limits`, `slowed_guesses`, `lifespan`, `request_end`, `root_path`,
`security_headers`, `signals`, `static_files`, `stray_slashes`, `nul_addresses`, `websocket_origins`, `metrics_page`, `request_counts`,
`log_in_proxy`, `fair_starts`, `answers_in_turn`; for `server` `proxy_headers`, `refusals` and `header_limits`.
"""
