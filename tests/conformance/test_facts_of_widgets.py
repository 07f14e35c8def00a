"""What Workspace knows of a widget is told to the model, wherever a generation writes it."""

import json
from typing import Any

import pytest

from protocol.models import Generation
from tests.conformance.dialects import QUESTION, asks, offered
from tests.conformance.strangers import NEWS, import_template
from tests.workspace.model_server import ModelServer, says

pytestmark = pytest.mark.django_db(transaction=True)

ABOUT = {"category": "Equity", "subcategory": "News", "source": "Benzinga"}
TICKER: dict[str, Any] = {**NEWS["params"][0]}  # type: ignore[index, dict-item]  # the fields differ in type


def row_told(
    generation: Generation, widget: Any, *, service: str, model: ModelServer
) -> dict[str, Any]:
    """What the model is told of the only widget there is."""
    import_template("dashboard-explorer", model)
    model.plays(says("One."))
    body = {"messages": [QUESTION], **offered(generation, widget)}
    asks(service, "dashboard-explorer", body)
    rows = (line for line in model.system().splitlines() if line.startswith('{"id"'))
    [row] = map(json.loads, rows)
    return dict(row)


@pytest.mark.parametrize("generation", [Generation.ONE, Generation.TWO], ids=["1", "2"])
def test_older_clients_have_it_in_the_metadata(generation, service_url, model):
    known = {**NEWS, "metadata": {**ABOUT, "lastUpdated": 1737038636601}}
    row = row_told(generation, known, service=service_url, model=model)
    assert {name: row[name] for name in ABOUT} == ABOUT
    assert (row["name"], row["description"]) == ("Company News", "News about a company")


@pytest.mark.parametrize(
    "generation",
    [pytest.param(Generation.TWO, marks=pytest.mark.nightly), Generation.THREE],
    ids=["2", "3"],
)
@pytest.mark.parametrize("default", [None, "MSFT", "<<UNDEFINED>>"])
def test_ten_thousand_options_are_counted(default, generation, service_url, model):
    options = [{"label": f"T{number}", "value": number} for number in range(10_000)]
    param = {**TICKER, "default_value": default, "options": options}
    row = row_told(generation, {**NEWS, "params": [param]}, service=service_url, model=model)
    known = {} if default == "<<UNDEFINED>>" else {"default": default}
    assert row["params"] == [
        {
            "name": "ticker",
            "type": "string",
            "value": "AAPL",
            "description": "The ticker of the company",
            **known,
            "options": options[:20],
            "more_options": 9_980,
        }
    ]


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ([{"field": "date", "headerName": "Day"}, {"headerName": "Title"}], ["date", "Title"]),
        (["date", 5, None, {}, {"field": 5}, "title"], ["date", "title"]),
        ({"date": {}}, None),
        ([], None),
    ],
    ids=["objects", "some of no use", "no list", "none"],
)
def test_columns_have_names_in_every_form(columns, names, service_url, model):
    known = {**NEWS, "columns": columns}
    row = row_told(Generation.THREE, known, service=service_url, model=model)
    assert row.get("columns") == names
