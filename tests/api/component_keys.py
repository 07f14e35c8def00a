"""A key for every component, what copilots use of them, and the shape of a refusal."""

from typing import Any

import pytest

from tests.component_calls.component_http import Reply
from tests.factories import make_key

HI = {"parameters": {"query": "hi"}}


@pytest.fixture
def key() -> str:
    """A key for everything."""
    return make_key()[1]


def uses(*pins: str, **config: Any) -> list[dict[str, Any]]:
    """The components of a copilot, as its document has them."""
    return [
        {"name": pin.partition("@")[0], "version": pin.partition("@")[2], "config": config}
        for pin in pins
    ]


def refusal(reply: Reply) -> tuple[int, str]:
    """Status and code of an error, which has exactly the shape of this API."""
    assert set(reply.json) == {"request_id", "code", "message"}
    assert reply.json["request_id"] == reply.headers["x-appbuilder-request-id"]
    assert len(reply.json["message"]) > 10
    assert reply.headers["cache-control"] == "no-store"
    return reply.status, reply.json["code"]
