"""Calls of client functions name widgets in every generation."""

import pytest

from protocol.functions import DataSource, data_sources, get_widget_data_call


def test_call_names_every_source_in_order():
    sources = [
        DataSource(widget_uuid="u", origin="o", id="i", input_args={"a": None}),
        DataSource(origin="o2", id="i2"),
    ]
    arguments = get_widget_data_call(sources)
    assert arguments == {
        "data_sources": [
            {"widget_uuid": "u", "origin": "o", "id": "i", "input_args": {"a": None}},
            {"origin": "o2", "id": "i2", "input_args": {}},
        ]
    }
    assert data_sources(arguments) == tuple(sources)


@pytest.mark.parametrize(
    ("arguments", "sources"),
    [
        ({}, ()),
        ({"widget_uuid": "u"}, (DataSource(widget_uuid="u"),)),
        ({"widget_uuids": ["u", 5, "v"]},
         (DataSource(widget_uuid="u"), DataSource(), DataSource(widget_uuid="v"))),
        ({"data_sources": "no list"}, ()),
        ({"data_sources": [None, {"origin": 1, "id": None, "input_args": []}]},
         (DataSource(), DataSource())),
        ({"data_sources": [{"origin": "o", "widget_id": "w"}]}, (DataSource(origin="o", id="w"),)),
        ({"data_sources": [{"widget_uuid": None, "id": "i"}]}, (DataSource(id="i"),)),
    ],
)  # fmt: skip
def test_sources_are_read_from_any_arguments(arguments: dict, sources: tuple):
    assert data_sources(arguments) == sources
