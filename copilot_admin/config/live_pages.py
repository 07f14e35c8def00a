"""How live pages of several workers are told of changes."""

# The layer waits 5 s for a message, then asks anew. redis-py 8 gives up reading after 5 s too: where
# it was first, the connection of an idle page ended.
SOCKET_TIMEOUT_SECONDS = 30


def over_redis(url: str) -> dict[str, object]:
    """The entry of Django's `CHANNEL_LAYERS` for a Redis."""
    host = {"address": url, "socket_timeout": SOCKET_TIMEOUT_SECONDS}
    return {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [host]}}
