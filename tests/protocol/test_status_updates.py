"""Steps beside an answer, as each generation of the client takes them without losing anything."""

import pytest

from protocol.events import StatusLevel, StatusUpdate
from protocol.models import Generation
from protocol.serializers import serialize

ONE, TWO, THREE = Generation.ONE, Generation.TWO, Generation.THREE
PLAIN = {"eventType": "INFO", "message": "Busy", "group": "reasoning"}
OWN_KEYS = (
    "lastUpdated", "source", "id", "uuid", "storedFileUUID", "url", "dataKey",
    "originalFilename", "extension", "category", "subCategory", "transcript_url",
)  # fmt: skip


def said(status: StatusUpdate, generation: Generation) -> list[object]:
    return [data for _, data in serialize(status, generation)]


@pytest.mark.parametrize(
    ("generation", "expected"), [(ONE, []), (TWO, []), (THREE, [{**PLAIN, "hidden": True}])]
)
def test_a_hidden_step_is_for_those_who_know_how_to_hide_it(generation, expected):
    assert said(StatusUpdate(message="Busy", hidden=True), generation) == expected


@pytest.mark.parametrize(
    ("details", "two", "three"),
    [
        (({"day": "Mon"},), [{"day": "Mon"}], [{"day": "Mon"}]),
        (("words",), [{"text": "words"}], ["words"]),
        (("words", {"a": 1}), [{"text": "words"}, {"a": 1}], ["words", {"a": 1}]),
    ],
    ids=["object", "text", "both"],
)
def test_details_are_a_list_of_objects_and_texts_and_objects_alone_before(details, two, three):
    status = StatusUpdate(message="Busy", details=details)
    assert said(status, TWO) == [{**PLAIN, "details": two}]
    assert said(status, THREE) == [{**PLAIN, "details": three}]


@pytest.mark.parametrize("key", OWN_KEYS)
@pytest.mark.parametrize("generation", [TWO, THREE])
def test_keys_that_a_client_keeps_to_itself_are_not_sent(key, generation):
    status = StatusUpdate(message="Busy", details=({key: "x", "kept": None, "day": "Mon"},))
    [data] = said(status, generation)
    assert data["details"] == [{"day": "Mon"}]  # type: ignore[index]


@pytest.mark.parametrize("generation", [TWO, THREE])
def test_details_of_which_nothing_is_shown_are_no_empty_table(generation):
    hidden = {"source": "x", "uuid": "y"}
    assert said(StatusUpdate(message="Busy", details=(hidden, "")), generation) == [PLAIN]
    [data] = said(StatusUpdate(message="Busy", details=(hidden, {"a": 1})), generation)
    assert data == {**PLAIN, "details": [{"a": 1}]}


def test_no_level_makes_clients_delete_history():
    assert "ERROR" not in {level.value for level in StatusLevel}
