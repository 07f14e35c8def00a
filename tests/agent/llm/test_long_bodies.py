"""A long request is sent with its length."""

import asyncio

import pytest

from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole
from copilot_admin.errors import ProviderRefused
from tests.agent.providers.upstream import Request, serving


def test_a_model_is_told_how_long_a_long_question_is():
    message = ModelMessage(role=ModelRole.USER, text='"\u00e4' * 1024 * 1024)
    call = ModelCall(model="m", messages=(message,))

    async def refusing(request, reply):
        await reply.start(401, type="application/json")
        await reply.end()

    async def asked() -> Request:
        async with serving(refusing) as server:
            with pytest.raises(ProviderRefused):
                await anext(aiter(server.provider().stream(call)))
            (request,) = server.requests
            return request

    request = asyncio.run(asked())
    assert request.headers["content-length"] == str(len(request.body))
    assert "transfer-encoding" not in request.headers
    assert request.headers["content-type"] == "application/json"
    assert request.json["messages"] == [{"role": "user", "content": call.messages[0].text}]
