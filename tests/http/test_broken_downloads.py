"""A download that the database breaks off is one line of the log, and has no end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from django.db import OperationalError, ProgrammingError
from django.http import StreamingHttpResponse
import pytest

from copilot_admin.http.django_handler import Handler


async def sent(error: Exception) -> list[dict[str, Any]]:
    """What leaves of a download that breaks after its first piece."""
    messages: list[dict[str, Any]] = []

    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        raise error

    async def send(message: Any) -> None:
        messages.append(message)

    await Handler().send_response(StreamingHttpResponse(pieces()), send)
    return messages


def test_one_that_an_outage_breaks_off_has_no_end(caplog):
    """It was a traceback for each."""
    messages = asyncio.run(sent(OperationalError("the connection is closed")))
    assert [one.get("more_body") for one in messages] == [None, True]
    assert caplog.messages == ["an answer was not sent to its end: OperationalError"]


def test_a_fault_of_ours_is_one():
    with pytest.raises(ProgrammingError):
        asyncio.run(sent(ProgrammingError("there is no such column")))
