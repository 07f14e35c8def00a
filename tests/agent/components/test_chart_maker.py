"""The component that draws a chart."""

import asyncio
import doctest
from uuid import UUID

import pytest

from copilot_admin.agent.components import chart_maker
from copilot_admin.agent.components.chart_maker import ChartMaker
from copilot_admin.agent.components.events import ComponentEvents
from protocol.components import Message, create_output, static_findings
from protocol.components.contract import outputs_are_json
from protocol.events import ArtifactType
from protocol.json_schema import schema_fault

ROWS = [
    {"quarter": "Q1", "sales": "1,200", "note": "x"},
    {"quarter": "Q2", "sales": 7},
    {"quarter": "Q3", "sales": None},
]


def outputs(**changes):
    inputs = {"rows": ROWS, "type": "line", "x": "quarter", "y": ["sales"]} | changes
    return list(ChartMaker().tool_eval(**inputs))


def test_it_keeps_the_contract():
    assert static_findings(ChartMaker) == ()
    for sample in ChartMaker.samples:
        assert list(outputs_are_json(ChartMaker, outputs(**sample))) == []


def test_the_examples_of_its_docstrings_are_true():
    assert doctest.testmod(chart_maker)[:] == (0, 3)


def test_its_name_and_parameters_are_those_of_the_interface():
    properties = ChartMaker.parameters()["properties"]

    assert ChartMaker.tool_name() == ["chart_maker"]
    assert list(properties) == ["rows", "type", "x", "y"]
    assert repr(properties["type"]["enum"]) == "['line', 'bar', 'scatter', 'pie', 'donut']"
    assert ChartMaker.parameters()["required"] == ["rows", "type", "x", "y"]
    assert schema_fault(ChartMaker.parameters()) == ""


def test_the_user_sees_a_chart_and_the_model_reads_a_sentence():
    assert outputs(_sys_traceid="x") == [
        create_output(
            "chart",
            {
                "type": "line",
                "data": '{"rows": [{"quarter": "Q1", "sales": 1200}, {"quarter": "Q2", "sales": 7}]'
                ', "x_key": "quarter", "y_keys": ["sales"]}',
            },
            name="sales by quarter",
            visible_scope="user",
        ),
        create_output(
            "text",
            "The user now sees a line chart of sales by quarter with 2 points."
            " 1 row had nothing to draw.",
            visible_scope="llm",
        ),
    ]


def test_clients_are_sent_a_chart_of_the_columns_that_were_named():
    events = ComponentEvents(
        title="Chart maker",
        description="D",
        id=UUID(int=1),
        stream_all_text=False,
        show_steps=False,
    )

    (chart,) = [event for output in outputs(type="bar") for event in events.take(output)]

    assert chart.type is ArtifactType.CHART
    assert chart.chart_params == {"chartType": "bar", "xKey": "quarter", "yKey": ["sales"]}
    assert chart.content == [{"quarter": "Q1", "sales": 1200}, {"quarter": "Q2", "sales": 7}]


def test_programs_send_a_message_and_get_one():
    message = Message({"rows": "q,n\nQ1,5", "type": "pie", "x": "q", "y": "n"})

    content = asyncio.run(ChartMaker().run(message)).content

    assert [one["type"] for one in content] == ["chart", "text"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rows": None}, "The rows are no table"),
        ({"rows": ""}, "There are no rows"),
        ({"rows": []}, "There are no rows"),
        ({"type": "map"}, "There is no chart 'map'"),
        ({"type": ""}, "There is no chart ''"),
        ({"x": ""}, "There is no column ''"),
        ({"y": ""}, "There is no column ''"),
        ({"y": []}, "y names from 1 to 20"),
        ({"y": "note"}, "which is no number"),
        ({"type": "pie", "rows": [{"quarter": 1, "sales": -1}]}, "no negative numbers"),
    ],
)
def test_bad_arguments_are_an_error_that_says_what_to_do(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        outputs(**changes)


def test_missing_arguments_are_an_error_of_the_call():
    with pytest.raises(TypeError):
        ChartMaker().tool_eval(ROWS, "line")
