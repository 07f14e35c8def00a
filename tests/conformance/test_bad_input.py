"""Bad data, calls and options over HTTP: clear words, and nothing lost."""

from typing import Any

import pytest

from copilot_admin.models import Outcome, Run, Turn
from tests.conformance.strangers import NEWS, widgets
from tests.workspace.client import text_of
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)


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


ROWS = [{"day": "Mon", "price": 1.5}]
CHART: dict[str, Any] = {"name": "P", "description": "", "type": "line", "rows": ROWS, "x": "day",
                         "y": ["price"]}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "states", "notes"),
    [
        (
            {"deep-research": "yes", "tone": "medium", "house-view": True},
            ("❌ Disabled", "short", "unknown"),
            [
                "The client sent 'yes' for the option 'deep-research', which is no value of this "
                "toggle; its default False is used.",
                "The client sent 'medium' for the option 'tone', which is no value of this select; "
                "its default 'short' is used.",
                "The client sent 'True' for the option 'house-view', which is no value of this "
                "text; its default '' is used.",
            ],
        ),
        (
            {"tone": 7},
            ("❌ Disabled", "short", "unknown"),
            ["`workspace_options.tone` is not true or text and was left out."],
        ),
        (
            7,
            ("❌ Disabled", "short", "unknown"),
            ["`workspace_options` is not an object or a list and was left out."],
        ),
    ],
    ids=["wrong values", "a number", "no options"],
)
def test_options_of_a_wrong_type_take_their_defaults_and_the_run_says_so(
    options, states, notes, chat_with, model
):
    stranger = chat_with("custom-options", says("Fine."))
    [events] = stranger.asks("Settings?", workspace_options=options)
    research, tone, view = states
    assert f"Deep Research: {research}\n" in model.system()
    assert f"Tone of the answer: {tone}. House view: {view}." in model.system()
    assert text_of(events) == "Fine."
    assert Run.objects.get().notes == notes
