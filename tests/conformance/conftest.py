"""Chats with templates, in Workspace and in its older releases."""

from collections.abc import Callable
from functools import partial
import json
from typing import Any

import pytest

from protocol.models import Generation
from tests.conformance.strangers import Stranger, import_template
from tests.wire import Line
from tests.workspace.client import OlderWorkspace
from tests.workspace.model_server import ModelServer, Reply


@pytest.fixture
def chat_with(service_url: str, model: ModelServer) -> Callable[..., Stranger]:
    """Begin a chat with a template, whose model gives these replies."""
    return partial(Stranger, service=service_url, model=model)


@pytest.fixture
def old(service_url: str, model: ModelServer) -> Any:
    """Imports a template and gives the chat that a client of a generation has with it."""

    def begin(
        slug: str, generation: Generation, *replies: Reply, widgets: Any = ()
    ) -> OlderWorkspace:
        import_template(slug, model)
        model.plays(*replies)
        with Line(f"{service_url}/copilots.json", method="GET") as line:
            card = json.loads(line.read_all())[slug]
        assert card["hasStreaming"] is True
        return OlderWorkspace(
            url=card["endpoints"]["query"],
            generation=generation,
            widgets=list(widgets),
            data=lambda asked: f"the data of {asked}",
        )

    return begin
