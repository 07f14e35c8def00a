"""The component that works on tables."""

import asyncio
import doctest
import json
from uuid import UUID

import pytest

from copilot_admin.agent.components import table_analyst
from copilot_admin.agent.components.events import ComponentEvents
from copilot_admin.agent.components.table_analyst import TableAnalyst
from copilot_admin.agent.toolkits.tables import MAX_SHOWN_ROWS
from protocol.components import Message, VisibleScope, create_output, merge, static_findings
from protocol.components.contract import outputs_are_json
from protocol.events import ArtifactType
from protocol.json_schema import schema_fault

ROWS = [{"region": "EU", "sales": 5}, {"region": "US", "sales": "1,007"}]
TOP = {"op": "top", "n": 1, "by": "sales"}


def outputs(rows, operations, **inputs):
    return list(TableAnalyst().tool_eval(rows=rows, operations=operations, **inputs))


def test_it_keeps_the_contract():
    assert static_findings(TableAnalyst) == ()
    for sample in TableAnalyst.samples:
        assert list(outputs_are_json(TableAnalyst, outputs(**sample))) == []


def test_the_examples_of_its_docstrings_are_true():
    assert doctest.testmod(table_analyst)[:] == (0, 3)


def test_its_name_and_parameters_are_those_of_the_interface():
    assert list(TableAnalyst.parameters()["properties"]) == ["rows", "operations"]
    assert TableAnalyst.parameters()["required"] == ["rows", "operations"]
    assert schema_fault(TableAnalyst.parameters()) == ""


@pytest.mark.parametrize(
    "rows", [ROWS, json.dumps(ROWS), 'region,sales\nEU,5\nUS,"1,007"'], ids=["list", "JSON", "CSV"]
)
def test_the_user_sees_a_table_and_the_model_reads_it(rows):
    assert outputs(rows, TOP, _sys_traceid="x") == [
        create_output(
            "json",
            {"data": [{"region": "US", "sales": "1,007"}]},
            name="Result",
            visible_scope="user",
        ),
        create_output(
            "text",
            '1 row with the columns: region, sales.\n{"region": "US", "sales": "1,007"}',
            visible_scope="llm",
        ),
    ]


def test_where_no_row_is_left_there_is_no_table_to_show():
    nobody = {"op": "filter", "column": "region", "is": "==", "value": "CN"}

    assert outputs(ROWS, [nobody, TOP]) == [
        create_output(
            "text", "No row is left. The columns are: region, sales.", visible_scope="llm"
        )
    ]


def test_the_user_sees_the_first_rows_of_many_and_the_model_is_told():
    whole = merge(outputs([{"n": n} for n in range(MAX_SHOWN_ROWS + 5)], []))
    table, words = sorted(whole.content, key=lambda one: one.visible_scope is VisibleScope.LLM)

    assert json.loads(table.text.data) == [{"n": n} for n in range(MAX_SHOWN_ROWS)]
    assert words.text.info.startswith("1,005 rows with the columns: n. Only the first 100")


def test_clients_are_sent_a_table():
    events = ComponentEvents(
        title="Table analyst",
        description="D",
        id=UUID(int=1),
        stream_all_text=False,
        show_steps=False,
    )

    (table,) = [event for output in outputs(ROWS, TOP) for event in events.take(output)]

    assert table.type is ArtifactType.TABLE
    assert table.content == [{"region": "US", "sales": "1,007"}]


def test_programs_send_a_message_and_get_one():
    message = Message({"rows": ROWS, "operations": TOP})

    content = asyncio.run(TableAnalyst().run(message)).content

    assert [one["type"] for one in content] == ["json", "text"]


@pytest.mark.parametrize(
    ("rows", "operations", "sentence"),
    [
        (None, TOP, "The rows are no table"),
        ("", TOP, "There are no rows"),
        ([], TOP, "There are no rows"),
        (ROWS, None, "The operations are no list"),
        (ROWS, {"op": "drop"}, "Operation 1"),
        (ROWS, TOP | {"by": "tax"}, "no column 'tax'"),
        (ROWS, TOP | {"n": -1}, "greater than or equal to 1"),
    ],
)
def test_bad_arguments_are_an_error_that_says_what_to_do(rows, operations, sentence):
    with pytest.raises(ValueError, match=sentence):
        outputs(rows, operations)


def test_missing_arguments_are_an_error_of_the_call():
    with pytest.raises(TypeError):
        TableAnalyst().tool_eval(ROWS)
