"""The JSON examples of the protocol's documents, in `tests/golden/published.json`.

Generation 1 comes from two translations of one README (their examples are the same, byte for
byte), generation 2 from the README after the migration of 2025-01-16. `changed` says what
translation or prose broke; "completed" means that the document shows one field and leaves the rest
out as `...`.
"""

from dataclasses import dataclass, replace
import json
from pathlib import Path
from typing import Any

import pytest

from protocol import features
from protocol.events import FunctionCall, MessageChunk
from protocol.features import (
    FEATURE_KEYS,
    FEATURES,
    CopilotCard,
    CustomFeature,
    CustomFeatureType,
    ModelChoice,
    agents_json,
    copilots_json,
)
from protocol.functions import DataSource, get_widget_data_call
from protocol.models import (
    CallMessage,
    DataItem,
    Generation,
    HumanMessage,
    ResultMessage,
    SourceData,
)
from protocol.parsing import parse_query
from protocol.serializers import serialize
from protocol.sse import decode, encode, encode_chunk

_PUBLISHED = json.loads(
    (Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class PublishedRequest:
    name: str
    generation: Generation
    body: dict[str, Any]
    changed: str

    @property
    def bytes(self) -> bytes:
        return json.dumps(self.body).encode()


REQUESTS = [
    PublishedRequest(one["name"], Generation(one["generation"]), one["body"], one["changed"])
    for one in _PUBLISHED["requests"]
]
SPACED_OUT_ONE: dict[str, Any] = _PUBLISHED["spaced_out"]
CALL_ONE, CALL_TWO, HISTORICAL_CALL_TWO = (
    _PUBLISHED["calls"][name] for name in ("one", "two", "historical")
)
COPILOTS_JSON_ONE, COPILOTS_JSON_TWO = (_PUBLISHED["copilots_json"][n] for n in ("one", "two"))
HISTORICAL_UUID = "38181a68-9650-4940-84fb-a3f29c8869f3"
QUOTE_UUID = "c276369e-e469-4689-b5fe-3f8c76f7c45a"
NEWS_UUID = "123e4567-e89b-12d3-a456-426614174000"
# The streams of the examples, the comments after the data removed.
HI = ["H", "i", "!"]
PRICE_ANSWER = ["The", " current", " stock", " price", " of", " Apple", " Inc.", " (AAPL)",
                " is", " $150.75."]  # fmt: skip


def request_of(generation: Generation, name: str) -> PublishedRequest:
    return next(one for one in REQUESTS if (one.generation, one.name) == (generation, name))


PRICES = request_of(Generation.ONE, "example, second leg").body["messages"][2]["data"]["content"]


@pytest.mark.parametrize(
    "request_", REQUESTS, ids=lambda one: f"{one.generation.value}: {one.name}"
)
def test_every_request_is_read_in_its_generation_without_a_note(request_: PublishedRequest):
    for hint in (None, *Generation):
        query = parse_query(request_.bytes, hint=hint)
        assert (query.generation, query.notes) == (request_.generation, ())
        assert len(query.messages) == len(request_.body["messages"])


def test_generation_one_second_leg_is_a_call_and_its_result():
    query = parse_query(request_of(Generation.ONE, "example, second leg").bytes)
    arguments = {"widget_uuid": HISTORICAL_UUID}
    assert query.messages[1:] == (
        CallMessage("get_widget_data", arguments),
        ResultMessage("get_widget_data", arguments, (SourceData((DataItem(content=PRICES),)),)),
    )
    assert [widget.uuid for widget in query.widgets.primary] == [HISTORICAL_UUID]


def test_spaces_of_the_translation_do_not_hide_the_message():
    query = parse_query(SPACED_OUT_ONE)
    assert query.generation is Generation.ONE
    assert query.question == HumanMessage(" What is the current stock price of AAPL? ")
    assert len(query.widgets.primary) == 1


def test_generation_two_widgets_have_arguments():
    widgets = parse_query(request_of(Generation.TWO, "widgets").bytes).widgets
    assert [widget.input_args() for widget in widgets.all()] == [
        {"ticker": "TSLA"},
        {"ticker": "AAPL", "period": "TTM"},
    ]
    assert widgets.primary[0].ref == "OpenBB API/stock_price_quote"


def test_generation_three_second_leg_is_a_call_and_its_result():
    query = parse_query(request_of(Generation.THREE, "second leg").bytes)
    result = query.messages[2]
    assert isinstance(result, ResultMessage)
    form = {"data_type": "object", "parse_as": "text"}
    news = DataItem(content="Apple Reports Record-Breaking Quarter", data_format=form)
    assert result.data == (SourceData((news,)),)
    arguments = {"copilot_function_call_arguments": {"widget_uuid": NEWS_UUID}}
    assert result.extra_state == arguments
    assert query.workspace_options == {"deep-research": True, "model": "gpt-4o"}


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize("deltas", [HI, PRICE_ANSWER])
def test_chunks_are_written_as_in_the_sources(generation: Generation, deltas: list[str]):
    expected = b"".join(
        b'event: copilotMessageChunk\ndata: {"delta":"%b"}\n\n' % delta.encode() for delta in deltas
    )
    said = [event for delta in deltas for event in serialize(MessageChunk(delta), generation)]
    assert b"".join(encode(name, data) for name, data in said) == expected
    assert b"".join(encode_chunk(delta) for delta in deltas) == expected
    assert [json.loads(text)["delta"] for _, text in decode(expected)] == deltas


def test_generation_one_call_holds_what_the_source_shows():
    arguments = get_widget_data_call([DataSource(widget_uuid=QUOTE_UUID)])
    call = FunctionCall(function="get_widget_data", input_arguments=arguments)
    [(name, data)] = serialize(call, Generation.ONE)
    assert name == "copilotFunctionCall"
    assert data == {
        **CALL_ONE,
        "copilot_function_call_arguments": {"widget_uuid": QUOTE_UUID},
    }


@pytest.mark.parametrize("shown", [CALL_TWO, HISTORICAL_CALL_TWO])
def test_generation_two_call_is_what_the_source_shows(shown: dict):
    call = FunctionCall(function="get_widget_data", input_arguments=shown["input_arguments"])
    assert serialize(call, Generation.TWO) == (("copilotFunctionCall", shown),)


@pytest.mark.parametrize("shown", [COPILOTS_JSON_ONE, COPILOTS_JSON_TWO])
def test_our_copilots_json_has_every_member_that_the_sources_show(shown: dict):
    [(slug, entry)] = shown.items()
    card = CopilotCard(
        slug=slug,
        name=entry["name"],
        description=entry["description"],
        query_url=entry["endpoints"]["query"],
        image_url=entry["image"],
        features=frozenset({"widget-dashboard-select"} if entry["hasFunctionCalling"] else ()),
    )
    ours: Any = copilots_json([card])[slug]
    assert {key: ours[key] for key in entry if key != "endpoints"} == {
        key: value for key, value in entry.items() if key != "endpoints"
    }
    assert ours["endpoints"] == {"query": "<url>?generation=2"}


GOLDEN = Path(__file__).parent.parent / "golden" / "documents"
PLAIN = CopilotCard(
    slug="plain", name="Plain", description="", query_url="https://x.example/v1/plain/query"
)
FULL = CopilotCard(
    slug="news-reader",
    name="News Reader",
    description="Reads the news.",
    query_url="https://x.example/v1/copilots/news-reader/query",
    feedback_url="https://x.example/v1/copilots/news-reader/feedback",
    image_url="https://x.example/image.png",
    models=(ModelChoice("fast", "Fast"), ModelChoice("deep", "Deep")),
    features=frozenset({"widget-dashboard-select", "widget-global-search"}),
    custom_features=(
        CustomFeature(key="deep-research", label="Deep Research", description="Takes longer."),
        CustomFeature(key="tone", label="Tone", type=CustomFeatureType.SELECT, default="short",
                      options=(("Short", "short"), ("Long", "long"))),
        CustomFeature(key="house-view", label="House view", type=CustomFeatureType.TEXT, default="",
                      placeholder="e.g. bullish"),
    ),
)  # fmt: skip


def agent(card: CopilotCard) -> Any:
    return agents_json([card])[card.slug]


@pytest.mark.parametrize("write", [agents_json, copilots_json])
def test_document_is_golden(write, monkeypatch: pytest.MonkeyPatch):
    known = json.loads((GOLDEN / "agents_json.json").read_text())[PLAIN.slug]["features"]
    kept = [feature for feature in FEATURES if feature.key in known]
    monkeypatch.setattr(features, "FEATURES", kept)  # without those that are newer
    document = json.dumps(write([PLAIN, FULL]), indent=2) + "\n"
    assert document == (GOLDEN / f"{write.__name__}.json").read_text()


def test_feedback_is_advertised_with_its_feature_only():
    assert "feedback" not in agent(FULL)["endpoints"]
    card = replace(FULL, features=frozenset({"feedback"}))
    assert agent(card)["endpoints"]["feedback"] == FULL.feedback_url


def test_every_built_feature_is_advertised_on_or_off():
    for key in FEATURE_KEYS:
        on = replace(PLAIN, features=frozenset({key}))
        assert agent(on)["features"][key]
        assert agent(PLAIN)["features"][key] is False
