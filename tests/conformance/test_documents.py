"""A stranger's tests of the two examples with PDFs, each against the template of its kind."""

from typing import Any

import pytest

from tests.agent.files.sample_files import SENTENCE, base64, pdf
from tests.conformance.strangers import PRICE, PRICE_SOURCE, widgets
from tests.http_stub import files_served
from tests.workspace.client import named
from tests.workspace.model_server import says

pytestmark = pytest.mark.django_db(transaction=True)

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
