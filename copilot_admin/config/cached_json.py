"""How values are kept in Redis: as JSON, since whoever can write there must not run code here."""

from typing import Any

import orjson


class CachedJson:
    """Django's cache writes and reads with it instead of pickle; a tuple comes back as a list."""

    def dumps(self, value: Any) -> bytes:
        """The bytes of a value; a whole number is its digits, which Redis can count with."""
        return orjson.dumps(value)

    def loads(self, data: bytes | int) -> Any:
        """The value of some bytes; None of what is no JSON."""
        try:
            return orjson.loads(data) if isinstance(data, bytes) else data
        except orjson.JSONDecodeError:
            return None
