"""Values that hold a secret do not tell it: what a fault or a callback is logged with is their `repr`."""

import asyncio
from pathlib import Path

import pytest

from copilot_admin.admin.logins.sessions import LoginSource, Vouching
from copilot_admin.agent.llm.provider_sessions import aclose_sessions, connection_for
from copilot_admin.config.observability import MetricsAccess
from copilot_admin.copilots.door import credentials_in
from copilot_admin.server.first_start import FirstLogin

SECRET = "sk-canary-of-somebody"


async def connection() -> str:
    try:
        return repr(await connection_for(base_url="http://127.0.0.1:1/v1", api_key=SECRET))
    finally:
        await aclose_sessions()


@pytest.mark.parametrize(
    "value",
    [
        credentials_in({"X-API-Key": SECRET}),
        credentials_in({"Authorization": f"Bearer {SECRET}"}),
        MetricsAccess(token=SECRET),
        FirstLogin("admin", SECRET, Path("login")),
        Vouching(source=LoginSource.OIDC, at=0, id_token=SECRET),
    ],
)
def test_a_value_does_not_tell_its_secret(value: object):
    assert SECRET not in repr(value)


def test_nor_does_a_connection_to_a_provider():
    assert SECRET not in asyncio.run(connection())
