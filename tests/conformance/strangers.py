"""Templates in Workspace, imported over a file, and bodies as clients of each generation write them."""

from collections.abc import Mapping
import json
from pathlib import Path
import tempfile
from typing import Any

from django.core.management import call_command
from openbb_ai.testing import CopilotResponse

from copilot_admin.import_export.templates import templates
from protocol.models import Generation
from tests.wire import Line
from tests.workspace.client import Event, Function, Workspace
from tests.workspace.model_server import MODEL, ModelServer, Reply
from tests.workspace.stream import events_of

NEWS_UUID = "123e4567-e89b-12d3-a456-426614174000"
PRICE_UUID = "91ae1153-7b4d-451c-adc5-49856e90a0e6"
# As the examples of OpenBB send it, down to the fields that they leave out.
NEWS = {
    "uuid": NEWS_UUID,
    "origin": "openbb",
    "widget_id": "company_news",
    "name": "Company News",
    "description": "News about a company",
    "params": [
        {
            "name": "ticker",
            "type": "string",
            "description": "The ticker of the company",
            "current_value": "AAPL",
        }
    ],
    "metadata": {},
}
PRICE = {
    "uuid": PRICE_UUID,
    "origin": "OpenBB API",
    "widget_id": "stock_price",
    "name": "Stock Price",
    "description": "Closing prices",
    "params": [],
    "metadata": {},
}
NEWS_SOURCE = {
    "widget_uuid": NEWS_UUID,
    "origin": "openbb",
    "id": "company_news",
    "input_args": {"ticker": "AAPL"},
}
PRICE_SOURCE = {
    "widget_uuid": PRICE_UUID,
    "origin": "OpenBB API",
    "id": "stock_price",
    "input_args": {},
}
TABLE = {"data_type": "object", "parse_as": "table"}


def widgets(*primary: Any, secondary: tuple[Any, ...] = ()) -> dict[str, Any]:
    """The part of a request that offers widgets."""
    return {"widgets": {"primary": list(primary), "secondary": list(secondary), "extra": []}}


def content(*texts: str, form: Mapping[str, Any] = TABLE) -> Function:
    """Answers a call for data: one element for each source, in order."""
    return lambda arguments: [
        {"items": [{"content": text, "data_format": dict(form)}], "extra_citations": []}
        for text in texts[: len(arguments["data_sources"])]
    ]


def import_template(slug: str, model: ModelServer, **changes: Any) -> None:
    """Publishes a template with the command for copilot files; the model is the scripted one."""
    provider = {"name": "Scripted", "kind": "openai_compatible", "base_url": model.url}
    entry = {**templates()[slug].entry, "slug": slug, "provider": "Scripted", "model": MODEL}
    file = {"format": 1, "providers": [provider], "copilots": [{**entry, **changes}]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copilots.yaml"
        path.write_text(json.dumps(file))
        call_command("copilots", "import", str(path), "--publish")


class Stranger:
    """Somebody who has read OpenBB's examples and nothing else, in a chat with a template."""

    def __init__(
        self, slug: str, *replies: Reply, service: str, model: ModelServer, **changes: Any
    ) -> None:
        import_template(slug, model, **changes)
        model.plays(*replies)
        self.slug = slug
        self.model = model
        with Line(f"{service}/agents.json", method="GET") as line:
            self.agent = json.loads(line.read_all())[slug]
        path = str(self.agent["endpoints"]["query"]).removeprefix(service)
        self.chat = Workspace(path=path, url=service)

    def asks(
        self, question: str, *, functions: Mapping[str, Function] | None = None, **request: Any
    ) -> list[list[Event]]:
        """Asks through all legs; returns the events of each."""
        self.chat.functions = functions or {}
        self.chat.request = request
        return self.chat.ask(question)

    def response(self, leg: int = -1) -> CopilotResponse:
        """A leg as the test helper of OpenBB reads it."""
        return CopilotResponse(self.chat.streams[leg].decode())


_FLAT = ("uuid", "name", "description", "metadata")


def offered(generation: Generation, *widgets: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a body that offers widgets, and by which its generation is known."""
    match generation:
        case Generation.ONE:
            return {"widgets": [{key: one[key] for key in _FLAT if key in one} for one in widgets]}
        case Generation.TWO:
            without = [{**one, "uuid": None} for one in widgets]
            other = {"origin": "o", "widget_id": "w", "name": "Other"}
            return {"widgets": {"primary": without or [other], "secondary": [], "extra": []}}
    return {"widgets": {"primary": list(widgets)}, "timezone": "UTC"}


def asks(service: str, slug: str, body: Mapping[str, Any]) -> list[Event]:
    """The answer to a body."""
    url = f"{service}/v1/copilots/{slug}/query"
    with Line(url, body=body, headers={"X-Trace-Id": "chat-1"}) as line:
        stream = line.read_all()
    assert line.status == 200, stream
    return events_of(stream)
