"""What stands between the socket and a view: limits, origins, headers, ids, start and stop.

In come ASGI messages; out come the same within their limits, or an answer that says what is wrong.
`asgi` stacks the modules of this room.
"""
