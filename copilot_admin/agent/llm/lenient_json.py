"""Reads JSON as model servers write it, which is not always as the standard wants it."""

import json
import math

import orjson

from protocol.json import Json

_MOST_DIGITS = 400  # a number of floating point has 309


def leniently_parsed(payload: bytes) -> Json:
    """Reads also what strict JSON refuses and servers send: half characters, broken UTF-8, NaN, endless numbers.

    Raises:
        ValueError: It is no JSON, or nested too deep.
    """
    try:
        parsed: Json = orjson.loads(payload)
    except orjson.JSONDecodeError:
        try:
            parsed = json.loads(payload.decode("utf-8", "replace"), parse_int=_number)
        except RecursionError:
            raise ValueError("nested too deep") from None
    return parsed


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf
