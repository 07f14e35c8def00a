"""Asks the firm's provider, for so long and for so much: what it says is not ours.

It is followed nowhere else: what a request carries is meant for the address that was asked.
"""

import json
import time
from typing import Any

import requests
from urllib3.exceptions import HTTPError

TIMEOUT_SECONDS = 5.0  # to connect, and of silence
MOST_SECONDS = 15.0  # of an answer that comes in drops
MOST_BYTES = 2_000_000  # twenty thousand groups are one
PIECE_BYTES = 65_536


class TooMuch(requests.RequestException):
    """An answer that is too long, or takes too long."""


def json_of(method: str, address: str, **sent: Any) -> Any:
    """What the provider answers, read as JSON.

    Args:
        method: Of HTTP.
        address: At the provider.
        sent: What `requests` takes: headers, data.

    Raises:
        requests.RequestException: It does not answer, refuses, or goes on for too long.
        ValueError: What it says is no JSON.
    """
    with requests.request(
        method, address, timeout=TIMEOUT_SECONDS, stream=True, allow_redirects=False, **sent
    ) as answer:
        if answer.is_redirect:
            raise requests.TooManyRedirects(response=answer)
        answer.raise_for_status()
        text = _all_of(answer)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _all_of(answer: requests.Response) -> bytes:
    until = time.monotonic() + MOST_SECONDS
    text = bytearray()
    try:
        while piece := answer.raw.read1(PIECE_BYTES, decode_content=True):
            text += piece
            if len(text) > MOST_BYTES or time.monotonic() > until:
                raise TooMuch(response=answer)
    except HTTPError as error:
        raise requests.ConnectionError(error) from error
    return bytes(text)
