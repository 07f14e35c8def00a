"""Reads the stream with which a copilot answers, without a server."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.test import AsyncClient

from protocol.sse import decode


def read(client: AsyncClient, path: str, body: Any, **headers: str) -> list[tuple[str, Any]]:
    """Posts a body as JSON and returns the events of the answer, in order.

    Args:
        client: Of Django; the server in front of it is not part of this.
        path: Of the query endpoint.
        body: The query.
        headers: Of the request; underscores become hyphens: `x_trace_id="t-1"`.
    """
    return async_to_sync(_read)(client, path, body, headers)


async def _read(
    client: AsyncClient, path: str, body: Any, headers: dict[str, str]
) -> list[tuple[str, Any]]:
    response: Any = await client.post(
        path,
        data=body,
        content_type="application/json",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )
    assert response.status_code == 200, response.content
    received = b"".join([part async for part in response.streaming_content])
    return [(name, json.loads(data)) for name, data in decode(received)]
