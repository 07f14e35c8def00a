"""Component that draws a chart."""

from uuid import UUID

import pytest

from copilot_admin.agent.components.chart_maker import MAX_POINTS, ChartMaker
from copilot_admin.agent.components.events import ComponentEvents
from copilot_admin.agent.tools.artifacts import MAX_SERIES, ChartType
from protocol.components import create_output
from protocol.events import ArtifactType

ROWS = [
    {"quarter": "Q1", "sales": "1,200", "costs": 80, "note": "x"},
    {"quarter": "Q2", "sales": 7, "costs": -5},
    {"quarter": "Q3", "sales": None, "costs": ""},
    {"quarter": "", "sales": 3},
]


def outputs(**changes):
    inputs = {"rows": ROWS, "type": "line", "x": "quarter", "y": ["sales"]} | changes
    return list(ChartMaker().tool_eval(**inputs))


def drawn(**changes):
    """The points of a chart and the sentence for the model."""
    chart, sentence = outputs(**changes)
    [event] = ComponentEvents(
        title="Chart maker",
        description="D",
        id=UUID(int=1),
        stream_all_text=False,
        show_steps=False,
    ).take(chart)
    assert event.type is ArtifactType.CHART
    return event, sentence.content[0].text.info


def test_the_user_sees_a_chart_and_the_model_reads_a_sentence():
    data = (
        '{"rows": [{"quarter": "Q1", "sales": 1200}, {"quarter": "Q2", "sales": 7}]'
        ', "x_key": "quarter", "y_keys": ["sales"]}'
    )
    sentence = (
        "The user now sees a line chart of sales by quarter with 2 points. "
        "2 rows had nothing to draw."
    )
    assert outputs(_sys_traceid="x") == [
        create_output(
            "chart", {"type": "line", "data": data}, name="sales by quarter", visible_scope="user"
        ),
        create_output("text", sentence, visible_scope="llm"),
    ]


@pytest.mark.parametrize("type", [*ChartType])
def test_every_type_can_be_drawn(type):
    chart, sentence = drawn(rows="q,n\n1,5\n2,7", type=type.value, x="q", y="n")
    assert chart.chart_params["chartType"] == type
    assert chart.content == [{"q": 1, "n": 5}, {"q": 2, "n": 7}]
    assert sentence == f"The user now sees a {type} chart of n by q with 2 points."


@pytest.mark.parametrize(
    ("changes", "points"),
    [
        (
            {"y": ["sales", "costs", "sales"]},
            [
                {"quarter": "Q1", "sales": 1200, "costs": 80},
                {"quarter": "Q2", "sales": 7, "costs": -5},
            ],
        ),
        ({"rows": [{"n": "5%"}], "type": "scatter", "x": "n", "y": "n"}, [{"n": 0.05}]),
        (
            {"rows": [{"x": "1,000", "y": 1}, {"x": "n/a", "y": 2}], "type": "scatter",
             "x": "x", "y": "y"},
            [{"x": 1000, "y": 1}],
        ),
        (
            {"rows": [{"q": 1, "n": 0}, {"q": 2, "n": 1}], "type": "pie", "x": "q", "y": "n"},
            [{"q": 1, "n": 0}, {"q": 2, "n": 1}],
        ),
    ],
)  # fmt: skip
def test_only_what_is_drawn_is_kept_and_numbers_are_numbers(changes, points):
    assert drawn(**changes)[0].content == points


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"type": "map"}, "no chart 'map'. Use one of line, bar, scatter, pie, donut"),
        ({"x": "day"}, "no column 'day'. The columns are: quarter, sales, costs, note"),
        ({"y": ["sales", "tax"]}, "There is no column 'tax'"),
        ({"y": []}, "y names from 1 to 20 columns, not 0"),
        ({"y": [f"c{n}" for n in range(MAX_SERIES + 1)]}, "not 21"),
        ({"y": "note"}, "'note' has 'x' in it, which is no number"),
        ({"type": "scatter"}, "'quarter' has text in it; x of a scatter chart takes numbers"),
        ({"type": "pie", "y": ["sales", "costs"]}, "exactly one column in y, not 2"),
        ({"type": "donut", "y": "costs"}, "no negative numbers and not only zeros"),
        ({"rows": [{"quarter": 1, "sales": 0}], "type": "pie"}, "not only zeros"),
        ({"rows": [{"quarter": 1, "sales": None}]}, "'sales' has no numbers"),
        ({"rows": [{"quarter": None, "sales": 1}]}, "No row has a value in both 'quarter' and"),
        ({"rows": [{"quarter": 1, "sales": 1}] * (MAX_POINTS + 1)}, "5,001 points; at most 5,000"),
        ({"rows": []}, "There are no rows"),
        ({"rows": None}, "The rows are no table"),
    ],
)
def test_what_cannot_be_drawn_is_an_error_that_says_why(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        outputs(**changes)
