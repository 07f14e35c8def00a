"""What a client carries from one leg to the next is good for one copilot, caller and chat."""

from dataclasses import dataclass
import json
from typing import Any

import pytest

from copilot_admin.models import Copilot
from tests.conformance.strangers import NEWS, content, widgets
from tests.conformance.test_bad_input_tools import CHART
from tests.factories import make_key, make_provider, make_published
from tests.wire import Line
from tests.workspace.model_server import MODEL, ModelServer, Reply, says
from tests.workspace.stream import events_of

pytestmark = pytest.mark.django_db(transaction=True)

BOTH = Reply(calls=(("get_widget_data", {"widgets": [{"id": NEWS["uuid"]}]}), ("chart", CHART)))
QUESTION = {"role": "human", "content": "Draw it."}


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks which copilot in which chat."""

    slug: str = "charts"
    key: str = "mine"
    chat: str = "chat-1"


ME = Asker()


@pytest.fixture
def keys() -> dict[str, str]:
    """The texts of two endpoint keys."""
    return {name: make_key(name)[1] for name in ("mine", "other")}


@pytest.fixture
def copilots(model: ModelServer) -> list[Copilot]:
    """Two that everybody may ask, and that are alike."""
    provider = make_provider(name="Scripted", kind="openai_compatible", base_url=model.url)
    alike = {"provider": provider, "model": MODEL, "tools": ["chart"]}
    alike |= {"widget_data": "ask", "citations": "off"}
    return [make_published(slug=slug, **alike) for slug in ("charts", "other")]


@pytest.fixture
def asked(service_url: str, keys: dict[str, str], copilots: list[Copilot]) -> Any:
    """Asks for the next leg of a chat; returns its events."""

    def ask(asker: Asker, *messages: Any) -> list[Any]:
        headers = {"X-Trace-Id": asker.chat}
        if asker.key:
            headers["X-API-Key"] = keys[asker.key]
        body = {"messages": [QUESTION, *messages], **widgets(NEWS)}
        path = f"{service_url}/v1/copilots/{asker.slug}/query"
        with Line(path, body=body, headers=headers) as line:
            stream = line.read_all()
        assert line.status == 200, stream
        return events_of(stream)

    return ask


def carried_out(call: Any) -> tuple[Any, Any]:
    """The call and its result as the client says them, with what it carries."""
    made = {name: call[name] for name in ("function", "input_arguments")}
    data = content("[1]")(call["input_arguments"])
    result = {"role": "tool", **made, "data": data, "extra_state": call["extra_state"]}
    return {"role": "ai", "content": json.dumps(made)}, result


def second_leg(asked: Any, model: ModelServer, *, asker: Asker) -> list[str]:
    """The kinds of events that somebody gets who brings what I was given."""
    model.plays(BOTH, says("It rose."))
    [(name, call)] = asked(ME)
    assert (name, call["function"]) == ("copilotFunctionCall", "get_widget_data")
    return [kind for kind, _ in asked(asker, *carried_out(call))]


def test_what_was_called_beside_the_data_goes_on_for_who_was_given_it(asked, model):
    kinds = second_leg(asked, model, asker=ME)
    assert kinds == ["copilotMessageArtifact", "copilotMessageChunk"]
    assert "The user now sees the line chart" in model.told()


@pytest.mark.parametrize(
    "asker",
    [Asker(slug="other"), Asker(key="other"), Asker(key=""), Asker(chat="chat-2")],
    ids=["another copilot", "another key", "no key", "another chat"],
)
def test_to_anybody_else_it_is_worth_nothing(asker, asked, model):
    assert second_leg(asked, model, asker=asker) == ["copilotMessageChunk"]
    assert "line chart" not in model.told()
    assert "[1]" in model.told(), "the data that they bring is theirs"
