"""Addresses in a question and PDFs: what is in them is read, told, and said where it can not be."""

from typing import Any

import pytest

from copilot_admin.models import Copilot, Event, EventType
from protocol.models import Generation
from tests.agent.files.sample_files import SENTENCE, base64, pdf
from tests.conformance.strangers import (
    NEWS,
    PRICE,
    PRICE_SOURCE,
    asks,
    content,
    import_template,
    offered,
    widgets,
)
from tests.http_stub import files_served
from tests.workspace.client import named, text_of
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = b"<html><head><style>p {}</style></head><body><p>Rates rose.</p></body></html>"


@pytest.fixture
def address(settings: Any) -> Any:
    """A server with a page and a document, which may be fetched from."""
    settings.FETCH_ALLOW = ["127.0.0.1"]
    with files_served({"/rates?sig=canary": PAGE, "/report": pdf([SENTENCE])}) as served:
        yield served


@pytest.mark.parametrize("logging", ["everything", "nothing"])
def test_the_model_knows_what_is_behind_them_in_both_legs(logging, address, chat_with, model):
    stranger = chat_with(
        "dashboard-explorer",
        calls("get_widget_data", widgets=[{"id": NEWS["uuid"]}]),
        says("They rose."),
    )
    Copilot.objects.update(logging=logging)
    _, events = stranger.asks(
        "What do they say?",
        functions={"get_widget_data": content("[1]")},
        **widgets(secondary=(NEWS,)),
        urls=[f"{address}/rates?sig=canary", f"{address}/report"],
    )
    assert "urls" not in stranger.chat.requests[1]
    assert text_of(events) == "They rose."
    assert named(events, "copilotStatusUpdate") == []
    for number in (0, 1):
        told = model.told(number)
        assert f'<data source="{address}/rates"' in told
        assert ">\nRates rose.\n</data>" in told
        assert SENTENCE in told
        assert "canary" not in told
    files = [one.payload for one in Event.objects.filter(type=EventType.FILE).order_by("pk")]
    kept = [(file["name"], file["type"]) for file in files if file]
    each = [(f"{address}/rates", "html"), (f"{address}/report", "pdf")]
    assert kept == (each * 2 if logging == "everything" else [])


GONE = "could not be read. The link has expired or is not open: the server answered 404."


@pytest.mark.parametrize("generation", Generation)
def test_what_cannot_be_read_is_said_in_every_generation(generation, address, service_url, model):
    import_template("prompt-optimizer", model)
    model.plays(says("Sorry."))
    urls = [f"{address}/gone", f"{address}/rates?sig=canary"]
    question = {"role": "human", "content": "What do they say?"}
    body = {"messages": [question], "urls": urls, **offered(generation)}
    events = asks(service_url, "prompt-optimizer", body)
    sentence = f"The link '{address}/gone' {GONE}"
    warnings = [one["message"] for one in named(events, "copilotStatusUpdate")]
    assert warnings == ([] if generation is Generation.ONE else [sentence])
    assert text_of(events) == (
        f"{sentence}\n\nSorry." if generation is Generation.ONE else "Sorry."
    )
    assert sentence in model.told()
    assert "Rates rose." in model.told()


PDF = {"data_type": "pdf", "filename": "report.pdf"}
PAGES = pdf(["The first page says little."], [SENTENCE])


def file(**item: Any) -> Any:
    """Answers a call for data with one file."""
    return {"get_widget_data": lambda _: [{"items": [{"data_format": PDF, **item}]}]}


@pytest.mark.parametrize("by_link", [False, True], ids=["base64", "link"])
def test_a_pdf_reaches_the_model_as_text_either_way(by_link, chat_with, model, settings):
    settings.FETCH_ALLOW = ["127.0.0.1"]
    stranger = chat_with("pdf-reader", says("It pays."))
    with files_served({"/report.pdf": PAGES}) as address:
        source = {"url": f"{address}/report.pdf"} if by_link else {"content": base64(PAGES)}
        first, second = stranger.asks("Dividends?", functions=file(**source), **widgets(PRICE))
    assert first[0][1]["input_arguments"] == {"data_sources": [PRICE_SOURCE]}
    assert [name for name, _ in second] == ["copilotMessageChunk", "copilotCitationCollection"]
    [[citation]] = [data["citations"] for data in named(second, "copilotCitationCollection")]
    assert citation["source_info"]["name"] == "Stock Price"
    assert "The first page says little." in model.told()
    assert SENTENCE in model.told()
    assert base64(PAGES)[:80] not in str(model.requests), "bytes are never shown to a model"


def test_an_attached_file_is_a_selected_widget_without_uuid(chat_with, model):
    stranger = chat_with("pdf-reader", says("It pays."))
    upload = {
        "origin": "OpenBB Hub",
        "widget_id": "file-5e1c",
        "name": "report.pdf",
        "description": "",
        "params": [],
    }
    first, _ = stranger.asks("Dividends?", functions=file(content=base64(PAGES)), **widgets(upload))
    assert first[0][1]["input_arguments"] == {
        "data_sources": [{"origin": "OpenBB Hub", "id": "file-5e1c", "input_args": {}}]
    }
    assert SENTENCE in model.told()
    assert stranger.agent["features"]["file-upload"] is True


def test_citations_of_a_pdf_mark_the_quoted_line_on_its_page(chat_with):
    stranger = chat_with("pdf-citations", says(f"It says: “{SENTENCE}”"))
    _, events = stranger.asks("Dividends?", functions=file(content=base64(PAGES)), **widgets(PRICE))
    assert [name for name, _ in events] == ["copilotMessageChunk", "copilotCitationCollection"]
    [[citation]] = [data["citations"] for data in named(events, "copilotCitationCollection")]
    assert citation["source_info"]["widget_id"] == "stock_price"
    assert citation["details"] == [{"Name": "Stock Price", "Page": "2"}]
    [[box]] = citation["quote_bounding_boxes"]
    assert box["page"] == 2
    assert box["text"] == SENTENCE
    assert 0 < box["x0"] < box["x1"] < 612
    assert 0 < box["top"] < box["bottom"] < 792
