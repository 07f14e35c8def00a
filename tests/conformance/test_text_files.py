"""Text files in any encoding reach the model, and what cannot be read is told to the user."""

from typing import Any

import pytest

from tests.agent.files.sample_files import base64
from tests.conformance.strangers import PRICE, widgets
from tests.http_stub import files_served
from tests.workspace.client import named
from tests.workspace.model_server import says

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = "Name;Stückpreis;Menge\nKäse;1,50;3\nWürfel;2,25;7\n"
CSV = {"data_type": "csv", "filename": "prices.csv"}
ENCODINGS = ["utf-8-sig", "utf-16", "utf-16-be", "latin-1", "cp1252", "utf-32"]


def file(**item: Any) -> Any:
    """Answers a call for data with one file."""
    return {"get_widget_data": lambda _: [{"items": [{"data_format": CSV, **item}]}]}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("by_link", [False, True], ids=["base64", "link"])
def test_a_text_file_reaches_the_model_in_any_encoding(
    by_link, encoding, chat_with, model, settings
):
    settings.FETCH_ALLOW = ["127.0.0.1"]
    data = ROWS.encode(encoding)
    stranger = chat_with("widget-reader", says("Cheese."))
    with files_served({"/prices.csv": data}) as address:
        source = {"url": f"{address}/prices.csv"} if by_link else {"content": base64(data)}
        _, second = stranger.asks("Prices?", functions=file(**source), **widgets(PRICE))
    assert ROWS.strip() in model.told()
    assert named(second, "copilotStatusUpdate") == []
    assert base64(data)[:20] not in str(model.requests)


def test_what_is_no_text_is_told_to_user_and_model(chat_with, model):
    stranger = chat_with("widget-reader", says("Sorry."))
    content = base64(bytes(range(256)) * 4)
    _, second = stranger.asks("Prices?", functions=file(content=content), **widgets(PRICE))
    [warning] = named(second, "copilotStatusUpdate")
    assert warning["message"].startswith(
        "The file 'prices.csv' could not be read. It is no document of a known kind."
    )
    assert warning["message"] in model.told()
    assert content[:40] not in str(model.requests)
