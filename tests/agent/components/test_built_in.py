"""Built-in components as models and programs call them: calculator, charts, returns, tables, questions."""

import asyncio
import json
import subprocess
import sys
from uuid import UUID

import pytest

from copilot_admin.agent.components.calculator import Calculator
from copilot_admin.agent.components.chart_maker import MAX_POINTS, ChartMaker
from copilot_admin.agent.components.events import ComponentEvents
from copilot_admin.agent.components.returns_toolkit import MAX_SHOWN_ROWS, ReturnsToolkit
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.components.similar_question import SimilarQuestion
from copilot_admin.agent.components.table_analyst import TableAnalyst
from copilot_admin.agent.toolkits import tables
from copilot_admin.agent.toolkits.returns.options import MEASURES, OF_PAYMENTS
from copilot_admin.agent.tools.artifacts import MAX_SERIES, ChartType
from copilot_admin.errors import ComponentFailed
from protocol.components import create_output
from tests.agent.components.sample_components import client_of
from tests.agent.components.test_base import counted
from tests.agent.scripted import ScriptedProvider, text

SALES = [
    {"quarter": "Q1", "sales": "1,200", "costs": 80, "note": "x"},
    {"quarter": "Q2", "sales": 7, "costs": -5},
    {"quarter": "Q3", "sales": None, "costs": ""},
    {"quarter": "", "sales": 3},
]
CHART = {"rows": SALES, "type": "line", "x": "quarter", "y": ["sales"]}
REGIONS = [{"region": "EU", "sales": 5}, {"region": "US", "sales": "1,007"}]
TOP = {"op": "top", "n": 1, "by": "sales"}
PRICES = {"A": [100, 110, 99, 121], "B": [50, 55, 49.5, 60.5]}
QUESTION = "Where is the {best} ice cream?"


def outputs(component, arguments, config=None, **system):
    async def collect():
        run = ComponentRun(component, arguments, system, config or {})
        return [output async for output in run.stream()]

    return asyncio.run(collect())


def content(component, arguments, **more):
    """Return the data for the user, and the text for the model."""
    shown, told = outputs(component, arguments, **more)
    return json.loads(shown.content[0].text.data), told.content[0].text.info


def chart(**changes):
    """Return the chart of the client, and the sentence for the model."""
    shown, told = outputs(ChartMaker, {**CHART, **changes})
    events = ComponentEvents(
        title="", description="", id=UUID(int=1), stream_all_text=False, show_steps=False
    )
    [event] = events.take(shown)
    return event, told.content[0].text.info


def test_the_model_reads_the_result_of_a_calculation():
    found = outputs(Calculator, {"expression": "200 USD + 10%"})
    assert found == [create_output("text", "220 USD", visible_scope="llm")]


def test_the_user_sees_a_chart_and_the_model_reads_a_sentence():
    data = {
        "rows": [{"quarter": "Q1", "sales": 1200}, {"quarter": "Q2", "sales": 7}],
        "x_key": "quarter",
        "y_keys": ["sales"],
    }
    sentence = (
        "The user now sees a line chart of sales by quarter with 2 points. "
        "2 rows had nothing to draw."
    )
    assert outputs(ChartMaker, CHART) == [
        create_output(
            "chart", {"type": "line", "data": data}, name="sales by quarter", visible_scope="user"
        ),
        create_output("text", sentence, visible_scope="llm"),
    ]


@pytest.mark.parametrize("type", [*ChartType])
def test_every_type_of_chart_can_be_drawn(type):
    found, sentence = chart(rows="q,n\n1,5\n2,7", type=type.value, x="q", y="n")
    assert found.chart_params["chartType"] == type
    assert found.content == [{"q": 1, "n": 5}, {"q": 2, "n": 7}]
    assert sentence == f"The user now sees a {type} chart of n by q with 2 points."


@pytest.mark.parametrize(
    ("changes", "points"),
    [
        ({"y": ["costs", "costs"]}, [{"quarter": "Q1", "costs": 80}, {"quarter": "Q2", "costs": -5}]),
        ({"rows": [{"n": "5%"}], "type": "scatter", "x": "n", "y": "n"}, [{"n": 0.05}]),
        ({"rows": [{"x": "1,000", "y": 1}, {"x": "n/a", "y": 2}], "type": "scatter", "x": "x", "y": "y"},
         [{"x": 1000, "y": 1}]),
    ],
)  # fmt: skip
def test_only_what_is_drawn_is_kept_and_numbers_are_numbers(changes, points):
    assert chart(**changes)[0].content == points


@pytest.mark.parametrize(
    "rows",
    [REGIONS, json.dumps(REGIONS), 'region,sales\nEU,5\nUS,"1,007"'],
    ids=["list", "JSON", "CSV"],
)
def test_the_user_sees_a_table_and_the_model_reads_it(rows):
    table, words = content(TableAnalyst, {"rows": rows, "operations": TOP})
    assert table == [{"region": "US", "sales": "1,007"}]
    assert words == '1 row with the columns: region, sales.\n{"region": "US", "sales": "1,007"}'


def test_a_table_may_be_empty_or_long():
    nobody = {"op": "filter", "column": "region", "is": "==", "value": "CN"}
    words = "No row is left. The columns are: region, sales."
    found = outputs(TableAnalyst, {"rows": REGIONS, "operations": [nobody, TOP]})
    assert found == [create_output("text", words, visible_scope="llm")]
    rows = [{"n": n} for n in range(tables.MAX_SHOWN_ROWS + 5)]
    table, words = content(TableAnalyst, {"rows": rows, "operations": []})
    assert table == rows[: tables.MAX_SHOWN_ROWS]
    assert words.startswith("1,005 rows with the columns: n. Only the first 100")


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_of_returns_is_described_and_can_be_asked_for(measure):
    assert measure in ReturnsToolkit.parameters()["properties"]["measure"]["description"]
    payments = [{"date": "2024-01-31", "paid": -1}, {"date": "2024-02-29", "paid": 1.1}]
    series = payments if measure in OF_PAYMENTS else {"values": PRICES, "window": 2}
    assert all(content(ReturnsToolkit, {"series": series, "measure": measure}))


def test_the_user_gets_a_table_of_returns_and_the_model_the_words():
    table, words = content(ReturnsToolkit, {"series": PRICES, "measure": "correlation"})
    assert table == [{"series": "A", "A": 1.0, "B": 1.0}, {"series": "B", "A": 1.0, "B": 1.0}]
    assert words == "A and B: 1\nCommon returns: 3."


def test_the_builder_of_a_copilot_sets_options_and_a_call_wins_over_them():
    config = {"periods_per_year": 12, "title": "ours"}
    one, other = (
        content(ReturnsToolkit, {"series": series, "measure": "volatility"}, config=config)[0]
        for series in (PRICES["A"], {"values": PRICES["A"], "periods_per_year": 48})
    )
    assert other[0]["volatility"] == pytest.approx(2 * one[0]["volatility"])


def test_a_long_table_of_returns_is_cut_to_its_latest_rows_and_the_model_is_told():
    series = list(range(1, MAX_SHOWN_ROWS + 3))
    rows, words = content(ReturnsToolkit, {"series": series, "measure": "returns"})
    assert (len(rows), rows[-1]["point"]) == (MAX_SHOWN_ROWS, MAX_SHOWN_ROWS + 2)
    assert words.endswith("The user sees the last 5,000 of 5,001 points.")


def test_the_server_does_not_load_pandas():
    program = (
        "import sys; import copilot_admin.agent.components.returns_toolkit; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not {"pandas", "numpy", "pyxirr"} & set(done.stdout.decode().split())


def similar(provider, query=QUESTION, **system):
    client = client_of(provider, temperature=0.7)
    return outputs(SimilarQuestion, {"query": query}, _sys_model=client, **system)


def test_similar_questions_stream_as_the_model_writes_them_and_the_tokens_come_last():
    with ScriptedProvider([counted("Which ", "ice?", tokens=(40, 9))]) as provider:
        found = similar(provider, f"  {QUESTION}\n", _sys_origin_query="other")
    usage = {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49, "name": "small"}
    assert found == [
        create_output("text", "Which ", name="text"),
        create_output("text", "ice?", name="text"),
        create_output("text", "", name="text", usage=usage),
    ]
    [call] = provider.calls
    [message] = call.messages
    assert message.text.startswith("Write 5 questions that are similar to the question below")
    assert message.text.endswith(f"<question>\n{QUESTION}\n</question>\n")
    assert (call.model, call.tools) == ("small", ())


@pytest.mark.parametrize(
    ("configs", "sent"),
    [
        (None, {"temperature": 0.7}),
        ({"temperature": 0.0, "top_p": 0.5}, {"temperature": 0.0, "top_p": 0.5}),
    ],
)
def test_the_caller_may_set_temperature_and_top_p(configs, sent):
    with ScriptedProvider([text("x")]) as provider:
        similar(provider, model_configs=configs)
    assert provider.calls[0].parameters == sent


def test_a_model_that_writes_nothing_has_failed():
    provider = ScriptedProvider([text(" ", "\n")])
    with pytest.raises(ComponentFailed, match="wrote no similar question"):
        similar(provider)


@pytest.mark.parametrize(
    ("component", "arguments", "sentence"),
    [
        (Calculator, {"expression": ""}, "There is nothing to calculate"),
        (TableAnalyst, {"rows": "", "operations": TOP}, "There are no rows"),
        (ReturnsToolkit, {"series": [1, -1], "measure": "returns"}, "a price must be above zero"),
        (SimilarQuestion, {"query": " "}, "Say in `query` a question"),
        *(
            (ChartMaker, {**CHART, **changes}, sentence)
            for changes, sentence in (
                ({"x": "day"}, "no column 'day'. The columns are: quarter, sales, costs, note"),
                ({"y": ["sales", "tax"]}, "There is no column 'tax'"),
                ({"y": []}, "y names from 1 to 20 columns, not 0"),
                ({"y": [f"c{n}" for n in range(MAX_SERIES + 1)]}, "not 21"),
                ({"y": "note"}, "'note' has 'x' in it, which is no number"),
                ({"type": "scatter"}, "'quarter' has text in it; x of a scatter chart takes numbers"),
                ({"type": "pie", "y": ["sales", "costs"]}, "exactly one column in y, not 2"),
                ({"type": "donut", "y": "costs"}, "no negative numbers and not only zeros"),
                ({"rows": [{"quarter": 1, "sales": None}]}, "'sales' has no numbers"),
                ({"rows": [{"quarter": None, "sales": 1}]}, "No row has a value in both"),
                ({"rows": [{"quarter": 1, "sales": 1}] * (MAX_POINTS + 1)}, "5,001 points; at most"),
            )
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_an_error_that_says_why(component, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        asyncio.run(_collect(component, arguments))


async def _collect(component, arguments):
    return [output async for output in component().stream(**arguments)]
