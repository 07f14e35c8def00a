"""Bad widgets and bad data over HTTP: clear words for the user or the model, and nothing lost."""

import json

import pytest

from copilot_admin.models import Node, Outcome, Run, Turn
from tests.agent.files.sample_files import base64
from tests.conformance.strangers import NEWS, content, widgets
from tests.workspace.client import named, text_of
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)

PDF = {"data_type": "pdf", "filename": "report.pdf"}


def journaled(*outcomes: str) -> None:
    """Makes sure that every leg is a run of the one turn, with these outcomes."""
    runs = list(Run.objects.order_by("started_at"))
    assert [run.outcome for run in runs] == list(outcomes)
    assert {run.turn for run in runs} == {Turn.objects.get()}


def test_a_widget_that_there_is_not_is_told_to_the_model_with_those_there_are(chat_with, model):
    unknown = "00000000-0000-4000-8000-000000000000"
    stranger = chat_with(
        "charts", calls("get_widget_data", widgets=[{"id": unknown}]), says("I do not have it.")
    )
    [events] = stranger.asks("Draw it.", **widgets(NEWS))
    assert text_of(events) == "I do not have it."
    told = f"There is no widget with the id '{unknown}'. Offered ids: {NEWS['uuid']}."
    assert model.requests[1]["messages"][-1]["content"] == told
    journaled(Outcome.COMPLETED)


def test_a_model_that_insists_on_it_is_stopped_and_the_user_told(chat_with, model):
    wrong = calls("get_widget_data", widgets=[{"id": "nonsense"}])
    stranger = chat_with("charts", wrong, wrong, says("Sorry."))
    [events] = stranger.asks("Draw it.", **widgets(NEWS))
    [warning] = named(events, "copilotStatusUpdate")
    assert warning["eventType"] == "WARNING"
    assert warning["message"] == (
        "The model used its tools wrongly more than once, so it answers without them. The last "
        f"problem: There is no widget with the id 'nonsense'. Offered ids: {NEWS['uuid']}."
    )
    assert text_of(events).endswith("Sorry.")
    assert "tools" not in model.requests[2]
    journaled(Outcome.COMPLETED)


def test_a_parameter_that_a_widget_has_not_is_told_to_the_model(chat_with, model):
    stranger = chat_with(
        "charts",
        calls("get_widget_data", widgets=[{"id": NEWS["uuid"], "params": {"tick": "A"}}]),
        says("Sorry."),
    )
    stranger.asks("Draw it.", **widgets(NEWS))
    told = model.requests[1]["messages"][-1]["content"]
    assert told.endswith("has no parameter 'tick'. Its parameters: ticker.")


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (
            [{"error_type": "gateway_error", "content": "hit '/news' and returned HTTP 502."}],
            "(error gateway_error: hit '/news' and returned HTTP 502.)",
        ),
        ([{"error_type": "not_found"}], "(error not_found: no reason given)"),
        ([{"items": [], "extra_citations": []}], "(nothing: the source returned no data)"),
        (
            [{"items": [{"content": "", "data_format": {}}]}],
            "(nothing: the source returned no data)",
        ),
        ([], "(no result)"),
        (None, "(no result)"),
        ("nonsense", "nonsense"),
    ],
    ids=["error", "error without words", "no items", "no content", "no data", "null", "text"],
)
def test_errors_and_empty_results_are_told_to_the_model_in_words(result, told, chat_with, model):
    stranger = chat_with("widget-reader", says("It could not be had."))
    _, second = stranger.asks("?", functions={"get_widget_data": lambda _: result}, **widgets(NEWS))
    assert second == [("copilotMessageChunk", {"delta": "It could not be had."})]
    assert told in model.told()
    journaled(Outcome.COMPLETED, Outcome.COMPLETED)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("count", "megabytes"), [(66_000, 3), pytest.param(330_000, 15, marks=pytest.mark.nightly)]
)
def test_megabytes_are_cut_between_rows_and_kept_whole_in_the_journal(
    count, megabytes, chat_with, model
):
    rows = json.dumps([{"day": f"d{number:06}", "price": number / 7} for number in range(count)])
    assert round(len(rows) / 1e6) == megabytes
    stranger = chat_with("widget-reader", says("Much."))
    _, second = stranger.asks("?", functions={"get_widget_data": content(rows)}, **widgets(NEWS))
    assert text_of(second) == "Much."
    told = model.told()
    assert len(told) < 500_000
    assert f"of {count} rows left out: too much data]" in told
    journaled(Outcome.COMPLETED, Outcome.COMPLETED)
    assert Node.objects.filter(kind="result").count() == 1


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (
            {"content": base64(b"%PDF-1.7 and no more")},
            "It is no PDF, or it is damaged. Attach it again.",
        ),
        ({"content": "%%%"}, "Its content is not base64."),
        ({"url": "http://127.0.0.1:9/report.pdf"}, "into a private network"),
    ],
    ids=["no PDF", "no base64", "a private address"],
)
def test_a_pdf_that_is_none_is_told_to_the_user_and_to_the_model(item, why, chat_with, model):
    stranger = chat_with("pdf-reader", says("It cannot be read."))
    result = [{"items": [{"data_format": PDF, **item}]}]
    _, second = stranger.asks("?", functions={"get_widget_data": lambda _: result}, **widgets(NEWS))
    [warning] = named(second, "copilotStatusUpdate")
    assert warning["eventType"] == "WARNING"
    assert warning["message"].startswith("The file 'report.pdf' could not be read. ")
    assert why in warning["message"]
    assert warning["message"] in model.told()
    assert text_of(second) == "It cannot be read."
    journaled(Outcome.COMPLETED, Outcome.COMPLETED)
