"""Bodies on their way through Django: not copied, and not kept."""

import asyncio
from collections.abc import Sequence
from io import BytesIO

from django.core.exceptions import RequestAborted
from django.test import RequestFactory
import pytest

from copilot_admin.edge.asgi_types import Message
from copilot_admin.edge.django_handler import Handler, forget_body


def body_of(*messages: Message) -> bytes:
    """What Django reads of some messages."""

    async def read(waiting: Sequence[Message]) -> bytes:
        left = [*waiting]

        async def receive() -> Message:
            return left.pop(0)

        with await Handler().read_body(receive) as file:
            return bytes(file.read())

    return asyncio.run(read(messages))


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_in_one_message_is_read():
    body = b"x" * 1000
    assert body_of(part(body)) == body


@pytest.mark.parametrize("messages", [(part(b""),), ({"type": "http.request"},)])
def test_a_request_without_a_body_has_none(messages):
    assert body_of(*messages) == b""


def test_a_body_in_many_messages_is_put_together():
    assert body_of(part(b"a", more=True), part(b"b", more=True), part(b"c")) == b"abc"


@pytest.mark.parametrize("before", [(), (part(b"a", more=True),)])
def test_a_client_that_has_left_is_not_answered(before):
    with pytest.raises(RequestAborted):
        body_of(*before, {"type": "http.disconnect"})


def test_a_body_that_is_forgotten_is_held_by_nothing_of_the_request():
    request = RequestFactory().post("/", b"x" * 1000, content_type="text/plain")
    assert len(request.body) == 1000

    forget_body(request)

    held = [value for value in vars(request).values() if isinstance(value, bytes)]
    assert (request.body, held) == (b"", [b""])
    assert isinstance(vars(request)["_stream"], BytesIO)
    assert vars(request)["_stream"].getvalue() == b""
