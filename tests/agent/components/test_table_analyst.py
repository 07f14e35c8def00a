"""The component that works on tables."""

import json

import pytest

from copilot_admin.agent.components.table_analyst import TableAnalyst
from copilot_admin.agent.toolkits.tables import MAX_SHOWN_ROWS
from protocol.components import VisibleScope, create_output, merge

ROWS = [{"region": "EU", "sales": 5}, {"region": "US", "sales": "1,007"}]
TOP = {"op": "top", "n": 1, "by": "sales"}


def outputs(rows, operations, **inputs):
    return list(TableAnalyst().tool_eval(rows=rows, operations=operations, **inputs))


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


def test_bad_arguments_are_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="There are no rows"):
        outputs("", TOP)
