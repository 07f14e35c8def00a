"""The returns toolkit, as models and programs call it."""

import asyncio
import json
import subprocess
import sys

import pytest

from copilot_admin.agent.components.returns_toolkit import MAX_SHOWN_ROWS, ReturnsToolkit
from copilot_admin.agent.toolkits.returns.options import MEASURES, OF_PAYMENTS
from protocol.components import create_output

PRICES = {"A": [100, 110, 99, 121], "B": [50, 55, 49.5, 60.5]}


def outputs(series, measure, config=None, **inputs):
    async def run():
        generator = ReturnsToolkit(**config or {}).tool_eval(series, measure, **inputs)
        return [output async for output in generator]

    return asyncio.run(run())


def test_the_description_names_every_measure():
    description = ReturnsToolkit.parameters()["properties"]["measure"]["description"]
    assert [one for one in MEASURES if one not in description] == []


def test_the_user_gets_a_table_and_the_model_the_words():
    assert outputs(PRICES, "correlation") == [
        create_output(
            "json",
            {"data": [{"series": "A", "A": 1.0, "B": 1.0}, {"series": "B", "A": 1.0, "B": 1.0}]},
            name="Correlation",
            visible_scope="user",
        ),
        create_output("text", "A and B: 1\nCommon returns: 3.", visible_scope="llm"),
    ]


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_can_be_asked_for(measure):
    payments = [{"date": "2024-01-31", "paid": -1}, {"date": "2024-02-29", "paid": 1.1}]
    series = payments if measure in OF_PAYMENTS else {"values": PRICES, "window": 2}
    table, words = outputs(series, measure)
    assert json.loads(table.content[0].text.data)
    assert words.content[0].text.info


def test_the_builder_of_a_copilot_sets_options_and_a_call_wins_over_them():
    config = {"periods_per_year": 12, "title": "ours"}
    by_config, by_call = (
        outputs(series, "volatility", config)[0].content[0].text.data
        for series in (PRICES["A"], {"values": PRICES["A"], "periods_per_year": 48})
    )
    one, other = (json.loads(data)[0]["volatility"] for data in (by_config, by_call))
    assert other == pytest.approx(2 * one)


def test_a_long_table_is_cut_to_its_latest_rows_and_the_model_is_told():
    table, words = outputs(list(range(1, MAX_SHOWN_ROWS + 3)), "returns")
    rows = json.loads(table.content[0].text.data)
    assert (len(rows), rows[0]["point"], rows[-1]["point"]) == (
        MAX_SHOWN_ROWS,
        3,
        MAX_SHOWN_ROWS + 2,
    )
    assert words.content[0].text.info.endswith("The user sees the last 5,000 of 5,001 points.")
    assert len(words.content[0].text.info) < 2_000


def test_bad_arguments_are_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="a price must be above zero"):
        outputs([1, -1], "returns")


def test_the_server_does_not_load_pandas():
    program = (
        "import sys; import copilot_admin.agent.components.returns_toolkit; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not {"pandas", "numpy", "pyxirr"} & set(done.stdout.decode().split())
