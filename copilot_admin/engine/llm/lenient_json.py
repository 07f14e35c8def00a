"""Reads JSON as model servers write it, which is not always as the standard wants it."""

import json

import orjson

from protocol.json import Json


def leniently_parsed(payload: bytes) -> Json:
    """Reads also what strict JSON refuses and servers send: half characters, broken UTF-8, NaN.

    Raises:
        ValueError: It is no JSON, or nested too deep.
    """
    try:
        parsed: Json = orjson.loads(payload)
    except orjson.JSONDecodeError:
        try:
            parsed = json.loads(payload.decode("utf-8", "replace"))
        except RecursionError:
            raise ValueError("nested too deep") from None
    return parsed
