"""Text files in any encoding reach the model, and what cannot be read is told to the user."""

from typing import Any

import pytest

from protocol.models import Generation
from tests.agent.files.sample_files import base64
from tests.conformance.dialects import QUESTION, asks, brought, offered, told
from tests.conformance.strangers import NEWS, PRICE, Stranger, import_template, widgets
from tests.import_export.test_templates import files_served
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
    by_link, encoding, service_url, model, settings
):
    settings.FETCH_ALLOW = ["127.0.0.1"]
    data = ROWS.encode(encoding)
    stranger = Stranger("widget-reader", says("Cheese."), service=service_url, model=model)
    with files_served({"/prices.csv": data}) as address:
        source = {"url": f"{address}/prices.csv"} if by_link else {"content": base64(data)}
        _, second = stranger.asks("Prices?", functions=file(**source), **widgets(PRICE))
    assert ROWS.strip() in model.told()
    assert named(second, "copilotStatusUpdate") == []
    assert base64(data)[:20] not in str(model.requests)


def test_what_is_no_text_is_told_to_user_and_model(service_url, model):
    stranger = Stranger("widget-reader", says("Sorry."), service=service_url, model=model)
    content = base64(bytes(range(256)) * 4)
    _, second = stranger.asks("Prices?", functions=file(content=content), **widgets(PRICE))
    [warning] = named(second, "copilotStatusUpdate")
    assert warning["message"].startswith(
        "The file 'prices.csv' could not be read. It is no document of a known kind."
    )
    assert warning["message"] in model.told()
    assert content[:40] not in str(model.requests)


def test_a_file_that_came_as_text_stays_as_it_is(service_url, model):
    stranger = Stranger("widget-reader", says("Cheese."), service=service_url, model=model)
    tickers = "AAPL\nMSFT\nGOOG\nTSLA\n" * 20
    stranger.asks("Which?", functions=file(content=tickers), **widgets(PRICE))
    assert tickers.strip() in model.told()


GENERATIONS = pytest.mark.parametrize("generation", Generation, ids=["1", "2", "3"])


def asked_with(generation: Generation, data: bytes, *, service: str, model: Any) -> list[str]:
    """What the user is told of a file that a widget gives, besides the answer "Cheese."."""
    import_template("widget-reader", model)
    model.plays(says("Cheese."))
    result = brought(generation, base64(data), form=CSV)
    body = {"messages": [QUESTION, *result], **offered(generation, NEWS)}
    return told(asks(service, "widget-reader", body), generation, answer="Cheese.")


@GENERATIONS
@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_text_file_of_every_generation_is_read(encoding, generation, service_url, model):
    assert asked_with(generation, ROWS.encode(encoding), service=service_url, model=model) == []
    assert ROWS.strip() in model.told()


UNREADABLE = "The file 'prices.csv' could not be read. "


@GENERATIONS
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x00", "It is no document of a known kind."),
        (ROWS.encode() + b"\x00" + ROWS.encode(), "It is no document of a known kind."),
        (b"\xff\xfe\x00\xd8" * 20, "The encoding of its text is not known."),
    ],
    ids=["one byte", "a zero", "a mark of nothing"],
)
def test_what_is_no_text_is_told_in_every_generation(data, why, generation, service_url, model):
    [sentence] = asked_with(generation, data, service=service_url, model=model)
    assert sentence.startswith(UNREADABLE + why)
    assert sentence in model.told()


@GENERATIONS
def test_a_guess_is_said_with_the_encoding_that_was_guessed(generation, service_url, model):
    data = "day;price\nMonday;plain\nSão Paulo;5\n".encode("cp1252")
    [sentence] = asked_with(generation, data, service=service_url, model=model)
    assert sentence == (
        "Of the file 'prices.csv' read as cp1252, which is a guess: some letters may be wrong."
    )
    assert "São Paulo;5" in model.told()
    assert "read as cp1252, which is a guess" in model.told()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "(nothing: the source returned no data)"),
        (b"7", "7"),
        (b"\xef\xbb\xbf7", "7"),
        (b"\xef\xbb\xbf" + ROWS.encode("cp1252"), ROWS.strip()),
        (b"\xff\xfe\x00\x00" + ROWS.encode("utf-32-le"), ROWS.strip()),
    ],
    ids=["none", "one", "a mark", "a wrong mark", "a wider mark"],
)
def test_hardly_any_bytes_and_wrong_marks_are_text_too(data, text, service_url, model):
    assert asked_with(Generation.THREE, data, service=service_url, model=model) == []
    assert f"\n{text}\n" in model.told()
